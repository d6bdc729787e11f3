// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of threads that wait, read from their process's memory: our own, and what a hostile
// process might show.
#include "loader/process/proc_maps.h"
#include "loader/process/process_memory.h"
#include "loader/process/safe_open.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "loader/unwind/stack_walk.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <map>
#include <random>

namespace auger {
namespace {

// What a child notes of itself before it waits: its registers, and return addresses as the compiler
// knows them.
struct Noted {
    uint64_t ip, sp, bp, bx;
    uint64_t into_inner, into_outer;
};
using Leaf = void(Noted* noted, uint64_t pipe, uint64_t size);
using Caller = void(Noted* noted, uint64_t pipe, uint64_t size, Leaf* leaf);

// Leaves: they note registers as they are when the thread waits. Also for memory that has no rules,
// with and without a frame. What lies at the stack pointer of the latter is the address of data.
extern "C" Leaf wait_without_frame, wait_with_frame;
extern "C" const char wait_without_frame_end, wait_with_frame_end;
// Finds its frame by rbx, as functions do that align their stack beside a frame pointer.
extern "C" Caller call_by_rbx;
asm(R"(
    .text
    .macro note_and_wait
    lea 1f(%rip), %rax
    mov %rax, (%rdi)
    mov %rsp, 8(%rdi)
    mov %rbp, 16(%rdi)
    mov %rbx, 24(%rdi)
    xchg %rdi, %rsi
    mov $1, %eax            # write
    syscall
    mov $34, %eax           # pause
    syscall
1:  nop
    .endm

    .type wait_without_frame, @function
wait_without_frame:
    .cfi_startproc
    note_and_wait
    ret
    .cfi_endproc
wait_without_frame_end:
    .size wait_without_frame, . - wait_without_frame

    .type wait_with_frame, @function
wait_with_frame:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    push %rdi
    note_and_wait
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
wait_with_frame_end:
    .size wait_with_frame, . - wait_with_frame

    .type call_by_rbx, @function
call_by_rbx:
    .cfi_startproc
    push %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    mov %rsp, %rbx
    .cfi_def_cfa_register %rbx
    sub $200, %rsp
    and $-128, %rsp
    call *%rcx
    mov %rbx, %rsp
    .cfi_def_cfa_register %rsp
    pop %rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size call_by_rbx, . - call_by_rbx
)");

// push %rbp; mov %rsp,%rbp; call *%rcx; pop %rbp; ret
constexpr uint8_t generated_caller[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3};

// Memory for code that no table knows.
class GeneratedCode {
  public:
    GeneratedCode()
        : start_(static_cast<char*>(
              mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
    template <typename Function>
    Function* add(const void* code, size_t size) {
        char* at = start_ + used_;
        std::memcpy(at, code, size);
        used_ += 256;
        return reinterpret_cast<Function*>(at);
    }
    void finish() { mprotect(start_, 4096, PROT_READ | PROT_EXEC); }

  private:
    char* start_;
    size_t used_ = 256; // the eight bytes before a return address are looked at
};

Leaf* leaf_of_inner = wait_without_frame;
[[gnu::noinline]] void inner(Noted* noted, uint64_t pipe, uint64_t size) {
    noted->into_inner = reinterpret_cast<uint64_t>(__builtin_return_address(0));
    leaf_of_inner(noted, pipe, size);
    asm volatile(""); // no tail call, which would leave the frame
}
// Calls `leaf`: by `caller`, if there is one.
[[gnu::noinline]] void outer(Noted* noted, uint64_t pipe, Caller* caller, Leaf* leaf) {
    noted->into_outer = reinterpret_cast<uint64_t>(__builtin_return_address(0));
    if (caller)
        caller(noted, pipe, sizeof(*noted), leaf);
    else
        leaf(noted, pipe, sizeof(*noted));
    asm volatile("");
}

// A copy of this process that waits in such a call.
class WaitingChild {
  public:
    WaitingChild(Caller* caller, Leaf* leaf) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            Noted noted{};
            outer(&noted, static_cast<uint64_t>(ends[1]), caller, leaf);
            _exit(0);
        }
        EXPECT_EQ(read(ends[0], &noted_, sizeof(noted_)), static_cast<ssize_t>(sizeof(noted_)));
        close(ends[0]);
        close(ends[1]);
    }
    ~WaitingChild() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }
    const Noted& noted() const { return noted_; }
    StackFrame leaf() const {
        return {noted_.ip, noted_.sp, noted_.bp, noted_.bx, WIRE_RBX_VALUE, true};
    }

  private:
    pid_t pid_ = -1;
    Noted noted_{};
};

// The rules of all files that are mapped here, which are those of our children.
class Rules {
  public:
    Rules() {
        const auto mappings = read_maps(getpid());
        for (const Mapping& mapping : *mappings) {
            if (mapping.executable)
                mappings_.push_back({mapping, nullptr});
        }
    }
    RuleAnswer find(uint64_t code) {
        for (auto& [mapping, file] : mappings_) {
            if (code < mapping.start || code >= mapping.end)
                continue;
            if (!mapping.inode)
                return {WIRE_STOP_NO_TABLE, {}};
            if (!file)
                file = &file_of(mapping.path);
            const auto linked = file->address_of(code - mapping.start + mapping.offset);
            const wire_unwind_rule* rule = linked ? file->tables.find(*linked) : nullptr;
            return rule ? RuleAnswer{WIRE_STOPS, *rule} : RuleAnswer{WIRE_STOP_NO_TABLE, {}};
        }
        return {WIRE_STOP_NO_MAPPING, {}};
    }

  private:
    struct File {
        std::shared_ptr<const ElfFile> elf;
        UnwindTables tables;
        std::optional<uint64_t> address_of(uint64_t offset) const {
            for (const ElfSegment& segment : elf->segments()) {
                if (segment.executable && offset - segment.offset < segment.file_size)
                    return segment.address + (offset - segment.offset);
            }
            return {};
        }
    };
    // Kept from test to test.
    static File& file_of(const std::string& path) {
        static std::map<std::string, File> files;
        auto [file, is_new] = files.try_emplace(path);
        if (is_new) {
            file->second.elf = *ElfFile::open(std::move(*open_regular(path)), path);
            file->second.tables = *compile_unwind_tables(*file->second.elf);
        }
        return file->second;
    }
    std::vector<std::pair<Mapping, File*>> mappings_;
};

std::vector<uint64_t> stack_of(const WaitingChild& child, const ReturnAddresses& replaced = {},
                               size_t most = 127) {
    Rules rules;
    ProcessMemory memory(child.pid());
    return read_stack(
        child.leaf(), memory, replaced, [&](uint64_t code) { return rules.find(code); }, most);
}

// Up to where the process begins, which is far from here.
void expect_whole(const std::vector<uint64_t>& stack) {
    EXPECT_GT(stack.size(), 8u);
    EXPECT_FALSE(stack.back() & WIRE_STACK_CUT) << std::hex << stack.back();
}

TEST(StackOfAWait, GoesUpByCallFrameInformation) {
    for (Leaf* leaf : {wait_without_frame, wait_with_frame}) {
        leaf_of_inner = leaf;
        const WaitingChild child(nullptr, inner);
        const auto stack = stack_of(child);
        ASSERT_GE(stack.size(), 4u);
        EXPECT_EQ(stack[0], child.noted().ip);
        EXPECT_EQ(stack[2], child.noted().into_inner);
        EXPECT_EQ(stack[3], child.noted().into_outer);
        expect_whole(stack);
    }
    leaf_of_inner = wait_without_frame;
}

TEST(StackOfAWait, HasNoMoreFramesThanAreWanted) {
    const WaitingChild child(nullptr, inner);
    const auto all = stack_of(child);
    const uint64_t deep = WIRE_STACK_CUT | WIRE_STOP_DEPTH;
    EXPECT_EQ(stack_of(child, {}, 1), (std::vector{all[0], deep}));
    EXPECT_EQ(stack_of(child, {}, 3), (std::vector{all[0], all[1], all[2], deep}));
    EXPECT_EQ(stack_of(child, {}, all.size()), all);
}

TEST(StackOfAWait, TakesReplacedReturnAddresses) {
    const WaitingChild child(nullptr, inner);
    const auto stack = stack_of(child);
    ASSERT_GE(stack.size(), 4u);
    // Another one stood where the leaf's lies.
    EXPECT_EQ(stack_of(child, {{child.noted().sp, child.noted().into_outer}}, 2),
              (std::vector{stack[0], child.noted().into_outer,
                           uint64_t{WIRE_STACK_CUT | WIRE_STOP_DEPTH}}));
    // What is no return address's place is read as it is.
    EXPECT_EQ(stack_of(child, {{child.noted().sp + 4, 5}, {child.noted().sp - 8, 5}}), stack);
}

TEST(StackOfAWait, FindsFramesByRbx) {
    const WaitingChild direct(call_by_rbx, wait_without_frame);
    auto stack = stack_of(direct);
    ASSERT_GE(stack.size(), 4u);
    EXPECT_EQ(stack[3], direct.noted().into_outer);
    expect_whole(stack);
    // The same behind a function that may have saved it.
    const WaitingChild behind(call_by_rbx, inner);
    stack = stack_of(behind);
    ASSERT_GE(stack.size(), 5u);
    EXPECT_EQ(stack[2], behind.noted().into_inner);
    EXPECT_EQ(stack[4], behind.noted().into_outer);
    expect_whole(stack);
}

TEST(StackOfAWait, FollowsFramePointersInGeneratedCode) {
    GeneratedCode code;
    Caller* caller = code.add<Caller>(generated_caller, sizeof(generated_caller));
    Leaf* without_frame =
        code.add<Leaf>(reinterpret_cast<const void*>(wait_without_frame),
                       static_cast<size_t>(&wait_without_frame_end -
                                           reinterpret_cast<const char*>(wait_without_frame)));
    Leaf* with_frame = code.add<Leaf>(
        reinterpret_cast<const void*>(wait_with_frame),
        static_cast<size_t>(&wait_with_frame_end - reinterpret_cast<const char*>(wait_with_frame)));
    code.finish();
    const WaitingChild below(caller, inner);
    auto stack = stack_of(below);
    ASSERT_GE(stack.size(), 5u);
    EXPECT_EQ(stack[2], below.noted().into_inner); // in the generated code
    EXPECT_EQ(stack[4], below.noted().into_outer);
    expect_whole(stack);
    for (Leaf* leaf : {without_frame, with_frame}) {
        const WaitingChild within(caller, leaf);
        stack = stack_of(within);
        ASSERT_GE(stack.size(), 4u);
        EXPECT_EQ(stack[1], reinterpret_cast<uint64_t>(caller) + 6);
        EXPECT_EQ(stack[3], within.noted().into_outer);
        expect_whole(stack);
        // A return probe's own address has no call before it.
        const uint64_t slot = leaf == with_frame ? within.noted().bp + 8 : within.noted().sp;
        EXPECT_EQ(stack_of(within, {{slot, 0x1234}}),
                  (std::vector<uint64_t>{stack[0], 0x1234, WIRE_STACK_CUT | WIRE_STOP_NO_MAPPING}));
    }
}

TEST(StackOfAWait, SurvivesWhateverRegistersSay) {
    GeneratedCode code;
    Caller* caller = code.add<Caller>(generated_caller, sizeof(generated_caller));
    code.finish();
    const WaitingChild child(caller, inner);
    Rules rules;
    std::mt19937_64 random(1);
    for (int i = 0; i < 500; i++) {
        StackFrame leaf = child.leaf();
        if (i % 8 == 7)
            leaf.ip = reinterpret_cast<uint64_t>(caller) + random() % 16;
        uint64_t* const registers[] = {&leaf.ip, &leaf.sp, &leaf.bp, &leaf.bx};
        *registers[i % 4] = i % 2 ? random() : child.noted().sp + random() % 512;
        ProcessMemory memory(child.pid());
        const auto stack = read_stack(
            leaf, memory, {}, [&](uint64_t code) { return rules.find(code); }, 127);
        EXPECT_GE(stack.size(), 1u);
        EXPECT_LE(stack.size(), 128u);
    }
}

TEST(StackOfAWait, OfAProcessThatIsGoneHasOnlyTheInstruction) {
    ProcessMemory memory(0x7ffffff0);
    Rules rules;
    const auto find = [&](uint64_t code) { return rules.find(code); };
    EXPECT_EQ(read_stack({0x1234, 0x5678, 0, 0, WIRE_RBX_VALUE, true}, memory, {}, find, 127),
              (std::vector<uint64_t>{0x1234, WIRE_STACK_CUT | WIRE_STOP_NO_MAPPING}));
    const auto here = reinterpret_cast<uint64_t>(wait_without_frame);
    EXPECT_EQ(read_stack({here, 0x5678, 0, 0, WIRE_RBX_VALUE, true}, memory, {}, find, 127),
              (std::vector<uint64_t>{here, WIRE_STACK_CUT | WIRE_STOP_UNREADABLE}));
}

// Memory that is made up: words of a stack, and code.
class MadeUpMemory final : public Memory {
  public:
    std::map<uint64_t, uint64_t> words;
    std::optional<uint64_t> word(uint64_t address) override {
        const auto known = words.find(address);
        return known != words.end() ? std::optional(known->second) : std::nullopt;
    }
    // So that `address` stands behind a call instruction.
    uint64_t after_call(uint64_t address) {
        words[address - 8] = uint64_t{0xe8} << 24;
        return address;
    }
};

constexpr uint64_t code = 0x10000, stack_start = 0x7000;

// Of code in [0x10000, 0x20000) with one rule, or with none.
std::vector<uint64_t> walk(MadeUpMemory& memory, const StackFrame& leaf,
                           std::optional<wire_unwind_rule> rule = {}) {
    const auto find = [&](uint64_t address) -> RuleAnswer {
        if (address < code || address >= 2 * code)
            return {WIRE_STOP_NO_MAPPING, {}};
        return rule ? RuleAnswer{WIRE_STOPS, *rule} : RuleAnswer{WIRE_STOP_NO_TABLE, {}};
    };
    return read_stack(leaf, memory, {}, find, 10);
}

constexpr uint64_t cut(wire_unwind_stop stop) {
    return WIRE_STACK_CUT | stop;
}

TEST(CodeWithoutRules, EndsWhereNoFramePointerHolds) {
    MadeUpMemory memory;
    const StackFrame leaf{code, stack_start, stack_start + 16, 0, WIRE_RBX_VALUE, true};
    memory.words = {{stack_start, 1}, {stack_start + 16, 0}, {stack_start + 24, code + 0x100}};
    EXPECT_EQ(walk(memory, leaf), (std::vector{code, cut(WIRE_STOP_NO_TABLE)}));
    memory.after_call(code + 0x100);
    EXPECT_EQ(walk(memory, leaf), (std::vector{code, code + 0x100}));
    // Behind a call, but not in code.
    memory.words[stack_start + 24] = memory.after_call(0x30000);
    EXPECT_EQ(walk(memory, leaf), (std::vector{code, cut(WIRE_STOP_NO_TABLE)}));
    // As the outermost function of a thread may have it.
    memory.words[stack_start + 24] = 0;
    EXPECT_EQ(walk(memory, leaf), (std::vector{code}));
    memory.words.erase(stack_start + 24);
    EXPECT_EQ(walk(memory, leaf), (std::vector{code, cut(WIRE_STOP_UNREADABLE)}));
    memory.words.erase(stack_start);
    EXPECT_EQ(walk(memory, leaf), (std::vector{code, cut(WIRE_STOP_UNREADABLE)}));
}

TEST(CodeWithoutRules, TakesTheStackPointersWordInAPrologueOnly) {
    MadeUpMemory memory;
    const uint64_t caller = memory.after_call(code + 0x100), other = code + 0x200;
    const StackFrame leaf{code, stack_start, 0, 0, WIRE_RBX_VALUE, true};
    memory.words[stack_start] = other; // not behind a call
    EXPECT_EQ(walk(memory, leaf), (std::vector{code}));
    for (const uint64_t bytes : {0x55u, 0xc3u, 0x0008c2u, 0xc3f3u, 0xfa1e0ff3u}) {
        memory.words[code] = bytes;
        EXPECT_EQ(walk(memory, leaf), (std::vector{code, other})) << std::hex << bytes;
    }
    // Behind `push %rbp` the caller's stands above it.
    memory.words[code - 8] = uint64_t{0x55} << 56;
    memory.words[stack_start] = 0;
    memory.words[stack_start + 8] = caller;
    for (const uint64_t bytes : {0xe58948u, 0xec8b48u}) {
        memory.words[code] = bytes;
        EXPECT_EQ(walk(memory, leaf), (std::vector{code, caller})) << std::hex << bytes;
    }
}

TEST(MadeUpStacks, GoUpOrEnd) {
    MadeUpMemory memory;
    const uint64_t caller = memory.after_call(code + 0x100);
    // A chain of frame pointers that leads to itself, or down.
    for (const uint64_t next :
         {stack_start, stack_start - 64, stack_start + 1, uint64_t{1} << 60}) {
        memory.words[stack_start] = next;
        memory.words[stack_start + 8] = caller;
        EXPECT_EQ(walk(memory, {caller, stack_start, stack_start, 0, WIRE_RBX_VALUE, false}),
                  (std::vector{caller, caller,
                               cut(next > stack_start + 16 && next % 8 == 0 ? WIRE_STOP_UNREADABLE
                                                                            : WIRE_STOP_NO_TABLE)}))
            << next;
    }
    // A rule by which the caller's stack pointer is our own.
    wire_unwind_rule rule = {};
    rule.cfa = WIRE_CFA_REGISTER;
    rule.cfa_register = 7;
    memory.words[stack_start - 8] = caller;
    const StackFrame leaf{code, stack_start, stack_start, 0, WIRE_RBX_VALUE, true};
    EXPECT_EQ(walk(memory, leaf, rule), (std::vector{code, cut(WIRE_STOP_STUCK)}));
    // Return addresses that no address can be.
    rule.offset = 8;
    memory.words[stack_start] = uint64_t{1} << 60;
    EXPECT_EQ(walk(memory, leaf, rule), (std::vector{code, cut(WIRE_STOP_STUCK)}));
    EXPECT_EQ(walk(memory, {~uint64_t{0}, 0, 0, 0, WIRE_RBX_VALUE, true}),
              (std::vector{cut(WIRE_STOP_STUCK)}));
}

TEST(MadeUpStacks, MayGoOnOnOthers) {
    MadeUpMemory memory;
    // Down, over and over: it ends all the same.
    wire_unwind_rule rule = {};
    rule.cfa = WIRE_CFA_OTHER_STACK;
    rule.cfa_register = 7;
    rule.offset = -16;
    for (uint64_t at = stack_start; at > stack_start - 512; at -= 8)
        memory.words[at] = code + 0x100;
    const StackFrame leaf{code, stack_start, 0, 0, WIRE_RBX_VALUE, true};
    auto stack = walk(memory, leaf, rule);
    ASSERT_EQ(stack.size(), 11u);
    EXPECT_EQ(stack.back(), cut(WIRE_STOP_DEPTH));
    // Of a goroutine, by the thread pointer, which is not known.
    rule.cfa = WIRE_CFA_GOROUTINE;
    EXPECT_EQ(walk(memory, leaf, rule), (std::vector{code, cut(WIRE_STOP_UNREADABLE)}));
}

TEST(CopiedStacks, AreNotFollowedToWhereNothingIsKnown) {
    const std::array<uint64_t, 4> words = {0, stack_start + 16, code + 0x100, 0};
    const StackPiece piece(stack_start, std::as_bytes(std::span(words)));
    const auto no_table = [](uint64_t) { return RuleAnswer{WIRE_STOP_NO_TABLE, {}}; };
    std::vector<uint64_t> frames = {code};
    for (const bool exact : {true, false}) {
        for (const uint64_t bp : {uint64_t{0}, stack_start + 8}) {
            EXPECT_EQ(walk_copied_stack({code, stack_start, bp, 0, WIRE_RBX_VALUE, exact}, piece,
                                        no_table, 10, frames),
                      exact || bp ? WIRE_STOP_NO_TABLE : WIRE_STOP_END);
            EXPECT_EQ(frames.size(), 1u);
        }
    }
    wire_unwind_rule rule = {};
    rule.cfa = WIRE_CFA_OTHER_STACK;
    rule.cfa_register = 7;
    rule.offset = 8;
    EXPECT_EQ(walk_copied_stack(
                  {code, stack_start, 0, 0, WIRE_RBX_VALUE, true}, piece,
                  [&](uint64_t) {
                      return RuleAnswer{WIRE_STOPS, rule};
                  },
                  10, frames),
              WIRE_STOP_UNREADABLE);
}

} // namespace
} // namespace auger
