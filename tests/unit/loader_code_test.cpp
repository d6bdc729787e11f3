// SPDX-License-Identifier: GPL-3.0-or-later
// Where code may be probed, on hand-assembled functions: one per rule.
#include "loader/reader/code/call_instructions.h"
#include "loader/reader/code/code_extent.h"
#include "loader/reader/code/function_code.h"
#include "loader/reader/code/outlined_parts.h"
#include "tests/unit/brief_code.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <random>

namespace auger {
namespace {

constexpr uint64_t base = 0x1000;
using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> values) {
    Bytes out;
    for (int value : values)
        out.push_back(static_cast<std::byte>(value));
    return out;
}

Bytes no_data(uint64_t, size_t) {
    return {};
}

Result<FunctionCode> analyse(const Bytes& body, const DataReader& data = no_data) {
    return analyse_function({base, body}, {}, data);
}

FunctionCode good(std::initializer_list<int> values, const DataReader& data = no_data) {
    Result<FunctionCode> code = analyse(bytes(values), data);
    EXPECT_TRUE(code.ok()) << (code.ok() ? "" : code.error().cause);
    return code.ok() ? std::move(*code) : FunctionCode{};
}

std::string refused(std::initializer_list<int> values) {
    Result<FunctionCode> code = analyse(bytes(values));
    return code.ok() ? "not refused" : code.error().cause;
}

std::vector<uint64_t> exit_offsets(const FunctionCode& code) {
    std::vector<uint64_t> offsets;
    for (const CodeExit& exit : code.exits)
        offsets.push_back(exit.address - base);
    return offsets;
}

using Offsets = std::vector<uint64_t>;

TEST(CodeEntry, StaysOnPush) {
    FunctionCode code = good({0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}); // push; mov; pop; ret
    EXPECT_EQ(code.entry.address, base);
    EXPECT_EQ(code.entry.cost, ProbeCost::emulated);
    EXPECT_EQ(exit_offsets(code), Offsets{5});
    EXPECT_EQ(code.exits[0].cost, ProbeCost::single_stepped);
}

TEST(CodeEntry, WalksFromEndbrToPush) {
    FunctionCode code = good({0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57, 0x41, 0x5f, 0xc3});
    EXPECT_EQ(code.entry.address, base + 4); // push %r15
    EXPECT_EQ(code.entry.cost, ProbeCost::emulated);
}

TEST(CodeEntry, WalksOverMovAndXorToPush) {
    // mov %rdi,%rax; xor %ecx,%ecx; push %rbx; pop %rbx; ret
    const FunctionCode beyond = good({0x48, 0x89, 0xf8, 0x31, 0xc9, 0x53, 0x5b, 0xc3});
    EXPECT_EQ(beyond.entry.address, base + 5);
    // The xor overwrites an argument.
    ASSERT_TRUE(beyond.argument_entry);
    EXPECT_EQ(beyond.argument_entry->address, base);
}

TEST(CodeEntry, DoesNotWalkOverMovedStack) {
    // sub $8,%rsp; push %rbx; pop; add $8,%rsp; ret
    FunctionCode code = good({0x48, 0x83, 0xec, 0x08, 0x53, 0x5b, 0x48, 0x83, 0xc4, 0x08, 0xc3});
    EXPECT_EQ(code.entry.address, base);
    EXPECT_EQ(code.entry.cost, ProbeCost::single_stepped);
    // mov %rdi,%rsp (a stack switch) before the push
    EXPECT_EQ(good({0x48, 0x89, 0xfc, 0x53, 0x5b, 0xc3}).entry.address, base);
    // lea -8(%rsp),%rsp; push
    EXPECT_EQ(good({0x48, 0x8d, 0x64, 0x24, 0xf8, 0x53, 0x5b, 0xc3}).entry.address, base);
}

TEST(CodeEntry, DoesNotWalkOverABranchTarget) {
    // 0: xor %eax,%eax  2: push %rbx  3: pop %rbx  4: dec %edi  6: jne 2  8: ret
    FunctionCode code = good({0x31, 0xc0, 0x53, 0x5b, 0xff, 0xcf, 0x75, 0xfa, 0xc3});
    EXPECT_EQ(code.entry.address, base);
    EXPECT_EQ(code.entry.cost, ProbeCost::single_stepped);
    // The same with the jump to the instruction behind the push: no obstacle.
    EXPECT_EQ(good({0x31, 0xc0, 0x53, 0x5b, 0xff, 0xcf, 0x75, 0xfb, 0xc3}).entry.address, base + 2);
}

TEST(CodeEntry, DoesNotWalkOverABranchTargetOfAColdPart) {
    // 0: xor %eax,%eax  2: push  3: pop  4: jne cold  a: ret; cold: jmp 2
    Bytes body = bytes({0x31, 0xc0, 0x53, 0x5b, 0x0f, 0x85, 0xf6, 0x0f, 0x00, 0x00, 0xc3});
    Bytes cold = bytes({0xe9, 0xfd, 0xef, 0xff, 0xff});
    CodePart part{0x2000, cold};
    Result<FunctionCode> code = analyse_function({base, body}, std::span(&part, 1), no_data);
    ASSERT_TRUE(code.ok());
    EXPECT_EQ(code->entry.address, base);
    EXPECT_EQ(exit_offsets(*code), Offsets{0xa}); // neither jump between the parts
}

TEST(CodeEntry, FiveByteNopOnlyAtTheStart) {
    FunctionCode first = good({0x0f, 0x1f, 0x44, 0x00, 0x00, 0x31, 0xc0, 0xc3});
    EXPECT_EQ(first.entry.address, base);
    EXPECT_EQ(first.entry.cost, ProbeCost::optimised);
    // Behind endbr64 it is passed by: endbr64; nop5; push
    FunctionCode inside =
        good({0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x53, 0x5b, 0xc3});
    EXPECT_EQ(inside.entry.address, base + 9);
    // Across a page the kernel leaves it alone.
    Bytes nop = bytes({0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3});
    Result<FunctionCode> across = analyse_function({0x1ffd, nop}, {}, no_data);
    ASSERT_TRUE(across.ok());
    EXPECT_NE(across->entry.cost, ProbeCost::optimised);
}

TEST(CodeEntry, NeverOnAnExit) {
    // mov $1,%edi; jmp away: the jump would be cheap, but it ends the call
    FunctionCode code = good({0xbf, 1, 0, 0, 0, 0xe9, 0, 1, 0, 0});
    EXPECT_EQ(code.entry.address, base);
    EXPECT_EQ(code.entry.cost, ProbeCost::single_stepped);
}

TEST(CodeEntry, PassesAnInstructionTheKernelRefuses) {
    // lock incl (%rdi); push; pop; ret
    FunctionCode code = good({0xf0, 0xff, 0x07, 0x53, 0x5b, 0xc3});
    EXPECT_EQ(code.entry.address, base + 3);
}

// xor %ecx,%ecx; the instruction; push %rbx; pop %rbx; ret
uint64_t entry_before_a_push(const OneInstruction& instruction) {
    Bytes body = bytes({0x31, 0xc9});
    for (const int value : instruction.code)
        body.push_back(static_cast<std::byte>(value));
    body.insert(body.end(), {std::byte{0x53}, std::byte{0x5b}, std::byte{0xc3}});
    const Result<FunctionCode> code = analyse(body);
    EXPECT_TRUE(code.ok()) << instruction.text;
    return code.ok() ? code->entry.address - base : 0;
}

TEST(CodeEntry, WalksOverWhatNeitherFaultsNorTakesLong) {
    for (const OneInstruction& instruction : brief_instructions)
        EXPECT_EQ(entry_before_a_push(instruction), 2 + instruction.code.size())
            << instruction.text;
}

TEST(CodeEntry, DoesNotWalkOverWhatMayFaultOrTakeLong) {
    for (const OneInstruction& instruction : other_instructions)
        EXPECT_EQ(entry_before_a_push(instruction), 0u) << instruction.text;
    // mov -8(%rbp),%rax; push: rbp is whatever the caller has in it
    EXPECT_EQ(good({0x48, 0x8b, 0x45, 0xf8, 0x53, 0x5b, 0xc3}).entry.address, base);
}

// The first that the kernel takes a probe on, then: what comes after it counts.
TEST(CodeEntry, PassesNoMoreThanTheKernelRefuses) {
    // lock incl (%rdi); mov (%rdi),%rax; push; pop; ret
    EXPECT_EQ(good({0xf0, 0xff, 0x07, 0x48, 0x8b, 0x07, 0x53, 0x5b, 0xc3}).entry.address, base + 3);
    // lock incl (%rdi); mov %edi,%eax; push; pop; ret
    EXPECT_EQ(good({0xf0, 0xff, 0x07, 0x89, 0xf8, 0x53, 0x5b, 0xc3}).entry.address, base + 5);
}

TEST(CodeEntry, WithAJumpTableOnlyOntoPush) {
    // 0: endbr64 4: test %edi,%edi 6: je e 8: notrack jmp *%rax b: nop.. e: ret
    FunctionCode code = good(
        {0xf3, 0x0f, 0x1e, 0xfa, 0x85, 0xff, 0x74, 0x06, 0x3e, 0xff, 0xe0, 0x90, 0x90, 0x90, 0xc3});
    EXPECT_TRUE(code.indirect_jumps);
    EXPECT_EQ(code.entry.address, base); // not the je
    FunctionCode pushes = good({0xf3, 0x0f, 0x1e, 0xfa, 0x53, 0x3e, 0xff, 0xe0, 0x5b, 0xc3});
    EXPECT_EQ(pushes.entry.address, base + 4);
}

TEST(CodeExits, EveryFormOfRet) {
    // push; ret imm16; rep ret; bnd ret; lret
    FunctionCode code = good({0x55, 0xc2, 0x08, 0x00, 0xf3, 0xc3, 0xf2, 0xc3, 0xcb});
    EXPECT_EQ(exit_offsets(code), (Offsets{1, 4, 6, 8}));
    for (const CodeExit& exit : code.exits)
        EXPECT_EQ(exit.kind, ExitKind::ret);
}

TEST(CodeExits, TailJumps) {
    // 0: push 1: pop 2: jne away (near) 8: jg away (short) a: jmp away
    FunctionCode code = good({0x55, 0x5d, 0x0f, 0x85, 0, 1, 0, 0, 0x7f, 0x60, 0xe9, 0, 1, 0, 0});
    ASSERT_EQ(exit_offsets(code), (Offsets{2, 8, 0xa}));
    EXPECT_TRUE(code.exits[0].conditional);
    EXPECT_EQ(code.exits[0].condition, 5); // not equal
    EXPECT_EQ(code.exits[0].target, base + 8 + 0x100);
    EXPECT_EQ(code.exits[1].condition, 15); // greater
    EXPECT_FALSE(code.exits[2].conditional);
    EXPECT_EQ(code.exits[2].cost, ProbeCost::emulated);
}

TEST(CodeExits, SelfTailCallButNotALoop) {
    // 0: push 1: pop 2: jne 1 4: jmp 0
    FunctionCode code = good({0x55, 0x5d, 0x75, 0xfd, 0xeb, 0xfa});
    ASSERT_EQ(exit_offsets(code), Offsets{4});
    EXPECT_TRUE(code.exits[0].to_itself);
}

// What Go's compiler puts around a function that needs stack: it is begun again when there is more.
TEST(CodeExits, BeginningAgainIsNone) {
    // 0: cmp 0x10(%r14),%rsp 4: jbe b 6: push 7: pop 8: ret 9: nop a: nop b: mov %rax,8(%rsp)
    // 10: call away 15: mov 8(%rsp),%rax 1a: jmp 0
    FunctionCode code =
        good({0x49, 0x3b, 0x66, 0x10, 0x76, 0x05, 0x55, 0x5d, 0xc3, 0x90, 0x90, 0x48, 0x89, 0x44,
              0x24, 0x08, 0xe8, 0,    1,    0,    0,    0x48, 0x8b, 0x44, 0x24, 0x08, 0xeb, 0xe4});
    EXPECT_EQ(exit_offsets(code), Offsets{8});
    EXPECT_EQ(code.entry.address, base + 4);
    EXPECT_EQ(code.entry.repeats, 6); // below or equal
    EXPECT_EQ(code.argument_entry->address, base + 4);
}

// A call that C makes stands behind a move of the stack pointer.
TEST(CodeExits, TurnsThatCallAreTailCalls) {
    // 0: test %edi,%edi 2: je e 4: push 5: call away a: pop b: jmp 0 d: nop e: ret
    FunctionCode code =
        good({0x85, 0xff, 0x74, 0x0a, 0x55, 0xe8, 0, 1, 0, 0, 0x5d, 0xeb, 0xf3, 0x90, 0xc3});
    EXPECT_EQ(exit_offsets(code), (Offsets{0xb, 0xe}));
    EXPECT_TRUE(code.exits[0].to_itself);
    EXPECT_EQ(code.entry.repeats, no_condition);
}

TEST(CodeExits, TrapsAreNone) {
    EXPECT_TRUE(good({0x55, 0x0f, 0x0b}).exits.empty()); // push; ud2
}

TEST(CodeExits, IndirectTailCalls) {
    // push; pop; mov (%rdi),%rax; jmp *0x10(%rax)
    EXPECT_EQ(exit_offsets(good({0x55, 0x5d, 0x48, 0x8b, 0x07, 0xff, 0x60, 0x10})), Offsets{5});
    // push; pop; mov 8(%rdi),%rax; jmp *%rax
    EXPECT_EQ(exit_offsets(good({0x55, 0x5d, 0x48, 0x8b, 0x47, 0x08, 0xff, 0xe0})), Offsets{6});
}

TEST(CodeExits, RelativeJumpTableIsNone) {
    // push; lea table(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; ret
    FunctionCode code = good({0x55, 0x48, 0x8d, 0x15, 0, 1, 0, 0, 0x48, 0x63, 0x04, 0xba, 0x48,
                              0x01, 0xd0, 0xff, 0xe0, 0xc3});
    EXPECT_TRUE(code.indirect_jumps);
    EXPECT_EQ(exit_offsets(code), Offsets{17});
}

TEST(CodeExits, AbsoluteTableByItsContent) {
    // push; jmp *0x404000(,%rdi,8); ret
    std::initializer_list<int> code_bytes = {0x55, 0xff, 0x24, 0xfd, 0x00, 0x40, 0x40, 0x00, 0xc3};
    auto table_of = [](int low) {
        return [low](uint64_t address, size_t) {
            return address == 0x404000 ? bytes({low, 0x10, 0, 0, 0, 0, 0, 0}) : Bytes();
        };
    };
    EXPECT_EQ(exit_offsets(good(code_bytes, table_of(0x08))), Offsets{8}); // leads to the ret
    EXPECT_EQ(exit_offsets(good(code_bytes, table_of(0x80))), (Offsets{1, 8}));
    EXPECT_EQ(exit_offsets(good(code_bytes)), (Offsets{1, 8})); // in doubt an exit
}

// What glibc's malloc does: with one thread the lock prefix is jumped over.
TEST(CodeExits, AJumpBehindALockPrefixIsNoHarm) {
    // push; cmpl $0,%fs:0x18; je 1f; lock; 1: cmpxchg %edx,(%rdi); pop; ret
    EXPECT_EQ(exit_offsets(good({0x55, 0x64, 0x83, 0x3c, 0x25, 0x18, 0, 0, 0, 0, 0x74, 0x01, 0xf0,
                                 0x0f, 0xb1, 0x17, 0x5d, 0xc3})),
              Offsets{17});
}

TEST(CodeRefusals, SayWhy) {
    EXPECT_NE(refused({0x55, 0x06, 0xc3}).find("cannot be decoded at 0x1001"), std::string::npos);
    EXPECT_NE(refused({0x55, 0xe8, 0, 0}).find("cannot be decoded"), std::string::npos);
    // jne into the middle of a mov
    EXPECT_NE(refused({0x55, 0x75, 0x01, 0xbf, 1, 0, 0, 0, 0xc3}).find("middle of an instruction"),
              std::string::npos);
    EXPECT_NE(refused({0xc3}).find("only returns"), std::string::npos);
    // jne behind a prefix that is no lock prefix (repne)
    EXPECT_NE(refused({0x55, 0x75, 0x01, 0xf2, 0xae, 0x5d, 0xc3}).find("middle of an instruction"),
              std::string::npos);
    EXPECT_NE(refused({0xe9, 0, 1, 0, 0}).find("too short"), std::string::npos);
    EXPECT_NE(refused({0xff, 0x25, 0, 1, 0, 0}).find("PLT"), std::string::npos);
    EXPECT_NE(refused({0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0, 1, 0, 0}).find("PLT"),
              std::string::npos);
    EXPECT_NE(refused({0x0f, 0x0b}).find("no probe"), std::string::npos);
    // push; jrcxz away: its condition is not in the flags
    EXPECT_NE(refused({0x55, 0xe3, 0x60, 0xc3}).find("no probe on its exit"), std::string::npos);
    EXPECT_NE(refused({}).find("no code"), std::string::npos);
}

TEST(CodeDecoder, CostsFollowTheKernel) {
    auto cost = [](std::initializer_list<int> values) {
        Bytes code = bytes(values);
        std::optional<Instruction> instruction = decode(code, base);
        EXPECT_TRUE(instruction);
        return instruction ? instruction->cost : ProbeCost::refused;
    };
    EXPECT_EQ(cost({0x50}), ProbeCost::emulated);
    EXPECT_EQ(cost({0x41, 0x54}), ProbeCost::emulated);
    EXPECT_EQ(cost({0x48, 0x55}), ProbeCost::single_stepped); // another REX
    EXPECT_EQ(cost({0x66, 0x55}), ProbeCost::single_stepped);
    EXPECT_EQ(cost({0xff, 0x75, 0x08}), ProbeCost::single_stepped); // push of memory
    EXPECT_EQ(cost({0x90}), ProbeCost::emulated);
    EXPECT_EQ(cost({0xe8, 0, 0, 0, 0}), ProbeCost::emulated);
    EXPECT_EQ(cost({0x74, 0x00}), ProbeCost::emulated);
    EXPECT_EQ(cost({0x0f, 0x84, 0, 0, 0, 0}), ProbeCost::emulated);
    EXPECT_EQ(cost({0x3e, 0x74, 0x00}), ProbeCost::refused); // branch hint: a segment prefix
    EXPECT_EQ(cost({0xff, 0xe0}), ProbeCost::single_stepped);
    EXPECT_EQ(cost({0x3e, 0xff, 0xe0}), ProbeCost::refused); // notrack
    EXPECT_EQ(cost({0xf0, 0x48, 0x0f, 0xb1, 0x0f}), ProbeCost::refused);
    EXPECT_EQ(cost({0xcc}), ProbeCost::refused);
    EXPECT_EQ(cost({0x0f, 0x05}), ProbeCost::refused);             // syscall
    EXPECT_EQ(cost({0xc5, 0xfe, 0x6f, 0x06}), ProbeCost::refused); // vmovdqu: opcode 6f
    EXPECT_EQ(cost({0xc5, 0xfc, 0x28, 0xc1}), ProbeCost::single_stepped);
    EXPECT_EQ(cost({0x0f, 0x6f, 0x06}), ProbeCost::single_stepped);
    EXPECT_EQ(cost({0x8e, 0xd0}), ProbeCost::refused); // mov %eax,%ss
    EXPECT_EQ(cost({0x9c}), ProbeCost::refused);       // pushf
    EXPECT_EQ(cost({0x66, 0x9c}), ProbeCost::refused);
    EXPECT_EQ(cost({0x9d}), ProbeCost::single_stepped); // popf
    EXPECT_EQ(cost({0x49, 0x90}), ProbeCost::refused);  // xchg %r8,%rax
    EXPECT_EQ(cost({0x41, 0x90}), ProbeCost::refused);
    EXPECT_EQ(cost({0x48, 0x90}), ProbeCost::single_stepped);
}

// Of vector instructions the kernel looks at the byte behind the prefix only.
TEST(CodeDecoder, RefusesWhatTheKernelTakesForSomethingElse) {
    const std::vector<std::vector<int>> taken = {
        {0xc4, 0xe1, 0xf9, 0x7e, 0xc0},             // vmovq %xmm0,%rax: jle
        {0xc5, 0xfe, 0x7f, 0x06},                   // vmovdqu %ymm0,(%rsi): jg
        {0xc5, 0xf9, 0x70, 0xc0, 0x10},             // vpshufd: jo
        {0xc5, 0xf8, 0x77},                         // vzeroupper: ja
        {0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x0e},       // vpgatherdd: nop
        {0xc4, 0xe2, 0xf1, 0x9d, 0xc2},             // vfnmadd132sd: popf
        {0xc5, 0xf8, 0xc2, 0xc0, 0x00},             // vcmpeqps: ret
        {0xc5, 0xf9, 0xe8, 0xc1},                   // vpsubsb: call
        {0xc5, 0xf9, 0xe9, 0xc1},                   // vpsubsw: jmp
        {0xc5, 0xf9, 0xeb, 0xc1},                   // vpor: jmp
        {0x62, 0xf1, 0xfd, 0x08, 0x7f, 0xc1},       // vmovdqa64 %xmm0,%xmm1: jg
        {0x62, 0xf1, 0x7c, 0x08, 0xc2, 0xc8, 0x00}, // vcmpeqps to %k1: ret
        {0x8f, 0xe8, 0x78, 0xc0, 0xc1, 0x02},       // vprotb (XOP)
    };
    for (const auto& values : taken) {
        Bytes code;
        for (const int value : values)
            code.push_back(static_cast<std::byte>(value));
        const std::optional<Instruction> instruction = decode(code, base);
        ASSERT_TRUE(instruction) << std::hex << values[0] << ' ' << values[1];
        EXPECT_EQ(instruction->cost, ProbeCost::refused)
            << std::hex << values[0] << ' ' << values[1] << ' ' << values[2];
    }
}

// Registers as instructions number them, from 1.
TEST(CodeCalls, WhereACallThroughAPointerFindsItsTarget) {
    using Target = CallInstruction::Target;
    const auto call = [](std::initializer_list<int> values) {
        Bytes body = bytes(values);
        body.push_back(std::byte{0xc3});
        auto calls = find_calls({base, body}, no_data);
        EXPECT_TRUE(calls.ok() && calls->size() == 1);
        return calls.ok() && !calls->empty() ? (*calls)[0] : CallInstruction{};
    };
    const auto expect = [&](std::initializer_list<int> values, CallOperand wanted) {
        const CallInstruction found = call(values);
        EXPECT_EQ(found.kind, Target::unknown);
        ASSERT_TRUE(found.operand);
        EXPECT_EQ(found.operand->memory, wanted.memory);
        EXPECT_EQ(found.operand->base, wanted.base);
        EXPECT_EQ(found.operand->index, wanted.index);
        EXPECT_EQ(found.operand->scale, wanted.scale);
        EXPECT_EQ(found.operand->displacement, wanted.displacement);
    };
    expect({0xff, 0xd0}, {false, 1, 0, 0, 0});                              // call *%rax
    expect({0x41, 0xff, 0xd7}, {false, 16, 0, 0, 0});                       // call *%r15
    expect({0xff, 0x52, 0xf8}, {true, 3, 0, 0, static_cast<uint64_t>(-8)}); // call *-8(%rdx)
    expect({0x41, 0xff, 0x54, 0xc5, 0x10}, {true, 14, 1, 8, 16});           // call *16(%r13,%rax,8)
    expect({0xff, 0x14, 0xc5, 0x00, 0x20, 0, 0}, {true, 0, 1, 8, 0x2000});  // call *8192(,%rax,8)
    const CallInstruction slot = call({0xff, 0x15, 0x10, 0, 0, 0});         // call *16(%rip)
    EXPECT_EQ(slot.kind, Target::slot);
    EXPECT_EQ(slot.target, base + 6 + 16);
    ASSERT_TRUE(slot.operand);
    EXPECT_EQ(slot.operand->displacement, slot.target);
    // call *%fs:16, call *(%eax): not what the operand alone says.
    const CallInstruction local = call({0x64, 0xff, 0x14, 0x25, 0x10, 0, 0, 0});
    EXPECT_EQ(local.kind, Target::unknown);
    EXPECT_FALSE(local.operand);
    EXPECT_FALSE(call({0x67, 0xff, 0x10}).operand);
    EXPECT_FALSE(call({0xe8, 0, 0, 0, 0}).operand);
}

// call +0; mov %ecx,%edx; the instruction; push %rbx; pop %rbx; ret
uint64_t return_place(const std::vector<int>& instruction) {
    Bytes body = bytes({0xe8, 0, 0, 0, 0, 0x89, 0xca});
    for (const int value : instruction)
        body.push_back(static_cast<std::byte>(value));
    body.insert(body.end(), {std::byte{0x53}, std::byte{0x5b}, std::byte{0xc3}});
    const auto calls = find_calls({base, body}, no_data);
    EXPECT_TRUE(calls.ok() && calls->size() == 1 && (*calls)[0].returns);
    return calls.ok() && !calls->empty() && (*calls)[0].returns
               ? (*calls)[0].returns->address - base
               : 0;
}

TEST(CodeCalls, ComeBackAtACheapPlaceIfNothingElseTakesTimeBeforeIt) {
    EXPECT_EQ(return_place({0x48, 0x8b, 0x7c, 0x24, 0x08}), 12u); // mov 8(%rsp),%rdi
    EXPECT_EQ(return_place({0x48, 0x8b, 0x3f}), 5u);              // mov (%rdi),%rdi
    EXPECT_EQ(return_place({0xf3, 0xaa}), 5u);                    // rep stosb
    EXPECT_EQ(return_place({0x0f, 0xae, 0xf0}), 5u);              // mfence
}

TEST(CodeOutlined, FindsUnnamedPartsThatJumpBack) {
    // 0: push 1: jne 0x2000 7: pop 8: ret
    Bytes body = bytes({0x55, 0x0f, 0x85, 0xf9, 0x0f, 0, 0, 0x5d, 0xc3});
    // at 0x2000: xor %eax,%eax; jmp 0x1007
    std::map<uint64_t, Bytes> memory{{0x2000, bytes({0x31, 0xc0, 0xe9, 0x00, 0xf0, 0xff, 0xff})}};
    auto read = [&](uint64_t address, size_t) {
        const Bytes& all = memory[0x2000];
        return Bytes(all.begin() + static_cast<long>(address - 0x2000), all.end());
    };
    auto unnamed = [](uint64_t) { return false; };
    std::vector<CodeRange> parts = find_outlined_parts({base, body}, unnamed, read);
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[0].address, 0x2000u);
    EXPECT_EQ(parts[0].size, 7u);
    // A function of its own that returns is a tail call.
    memory[0x2000] = bytes({0x31, 0xc0, 0xc3});
    EXPECT_TRUE(find_outlined_parts({base, body}, unnamed, read).empty());
    EXPECT_TRUE(find_outlined_parts(
                    {base, body}, [](uint64_t a) { return a >= 0x2000; }, read)
                    .empty());
}

TEST(CodeHostile, RandomBytesKeepTheRules) {
    std::mt19937 random(20240607);
    size_t good_ones = 0;
    for (int round = 0; round < 20000; ++round) {
        Bytes body(1 + random() % 24), cold(1 + random() % 12);
        for (Bytes* part : {&body, &cold})
            for (std::byte& byte : *part)
                byte = static_cast<std::byte>(random());
        body[0] = std::byte{0x55};
        CodePart part{0x2000, cold};
        auto read = [&](uint64_t, size_t size) { return Bytes(size % 64, std::byte{0x90}); };
        find_outlined_parts(
            {base, body}, [](uint64_t) { return false; }, read);
        Result<FunctionCode> code = analyse_function({base, body}, std::span(&part, 1), read);
        if (!code)
            continue;
        ++good_ones;
        EXPECT_TRUE(code->is_boundary(code->entry.address));
        EXPECT_GE(code->entry.address, base);
        EXPECT_LT(code->entry.address, base + body.size());
        for (const CodeExit& exit : code->exits) {
            EXPECT_TRUE(code->is_boundary(exit.address));
            EXPECT_NE(exit.cost, ProbeCost::refused);
            EXPECT_NE(exit.address, code->entry.address);
        }
    }
    EXPECT_GT(good_ones, 100u);
}

size_t extent(std::initializer_list<int> values) {
    const Bytes body = bytes(values);
    const auto found = code_extent({base, body});
    return found ? *found : 0;
}

// Data that would decode, with a return in it, behind a function without a size.
TEST(CodeExtent, EndsBeforeData) {
    EXPECT_EQ(extent({0x55, 0x5d, 0xc3, 0x40, 0x00, 0xc3}), 3u); // push; pop; ret; data
    EXPECT_EQ(extent({0xeb, 0x01, 0x90, 0xc3, 0x06}), 4u);       // jmp over a nop; ret; data
    EXPECT_EQ(extent({0x74, 0x01, 0xc3, 0xc3, 0xc3}), 4u);       // je; ret; ret; another
    EXPECT_EQ(extent({0xe9, 0, 1, 0, 0, 0xc3}), 5u);             // jmp elsewhere
    EXPECT_EQ(extent({0xff, 0x25, 0, 1, 0, 0, 0xc3}), 6u);       // jmp *slot(%rip)
    EXPECT_EQ(extent({0x0f, 0x0b, 0xc3}), 2u);                   // ud2
}

TEST(CodeExtent, IsUnknownWhereDataMayBe) {
    EXPECT_EQ(extent({0xeb, 0x02, 0x12, 0x34, 0xc3}), 0u);    // jmp over data
    EXPECT_EQ(extent({0xff, 0xe0, 0xc3}), 0u);                // jmp *%rax
    EXPECT_EQ(extent({0xff, 0x24, 0xc5, 0, 0, 0, 0}), 0u);    // jmp *table(,%rax,8)
    EXPECT_EQ(extent({0x74, 0x01, 0xb8, 0xc3, 0, 0, 0}), 0u); // je into an immediate
    EXPECT_EQ(extent({0x55, 0x06}), 0u);                      // no instruction
}

} // namespace
} // namespace auger
