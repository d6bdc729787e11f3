// SPDX-License-Identifier: GPL-3.0-or-later
// The programs' own walk, compiled for user space, of stacks that are made up; and walks of copies.
// Those of real threads are in loader_unwind_memory_test.cpp, and in the kernel's tests.
#include "loader/unwind/stack_walk.h"
#include "tests/unit/walked_process.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace auger {
namespace {

constexpr uint64_t code = 0x10000, stack_start = 0x7000, stack_end = 0xb000;

constexpr uint64_t cut(wire_unwind_stop stop) {
    return WIRE_STACK_CUT | stop;
}

// Code in [0x10000, 0x20000) with one rule, or with none, and a stack: words are 0 but for those
// that are said.
class MadeUpStacks : public testing::Test {
  protected:
    // The stack of a thread that is at the beginning of the code.
    std::vector<uint64_t> walk(uint64_t bp = 0, std::optional<wire_unwind_rule> rule = {}) {
        return walk_from({code, stack_start, bp}, rule);
    }
    std::vector<uint64_t> walk_from(const test::WalkedProcess::Leaf& leaf,
                                    std::optional<wire_unwind_rule> rule = {},
                                    const std::vector<walked_return>& replaced = {}) {
        test::WalkedProcess process;
        wire_unwind_mapping mapping = {code, 2 * code, code, 0, WIRE_MAPPING_FILE};
        if (rule) {
            UnwindTable table;
            table.size = code;
            table.pages.resize(code / WIRE_UNWIND_PAGE + 1, 1);
            table.pages[0] = 0;
            table.rows = {1 << WIRE_UNWIND_PAGE_BITS};
            table.rules = {{}, *rule};
            mapping.table = process.add(table);
        }
        process.map({mapping});
        return process.walk(
            leaf,
            [this](uint64_t address, void* bytes, size_t size) {
                return read(address, bytes, size);
            },
            replaced);
    }
    // So that `address` stands behind a call instruction.
    uint64_t after_call(uint64_t address) {
        words[address - 8] = uint64_t{0xe8} << 24;
        return address;
    }

    std::map<uint64_t, uint64_t> words;
    uint64_t readable_from = stack_start - 0x1000;

  private:
    bool read(uint64_t address, void* bytes, size_t size) const {
        const bool in_stack = address >= readable_from && address + size <= stack_end;
        const bool in_code = address >= code - 8 && address + size <= 4 * code;
        if (!in_stack && !in_code)
            return false;
        for (size_t i = 0; i < size; i++) {
            const auto word = words.find((address + i) & ~uint64_t{7});
            const uint64_t value = word == words.end() ? 0 : word->second;
            static_cast<uint8_t*>(bytes)[i] = static_cast<uint8_t>(value >> (address + i) % 8 * 8);
        }
        return true;
    }
};

TEST_F(MadeUpStacks, EndWhereNoFramePointerHolds) {
    words = {{stack_start, 1}, {stack_start + 16, 0}, {stack_start + 24, code + 0x100}};
    EXPECT_EQ(walk(stack_start + 16), (std::vector{code, cut(WIRE_STOP_NO_TABLE)}));
    after_call(code + 0x100);
    EXPECT_EQ(walk(stack_start + 16), (std::vector{code, code + 0x100}));
    // Behind a call, but in no code that is known.
    words[stack_start + 24] = after_call(0x30000);
    EXPECT_EQ(walk(stack_start + 16),
              (std::vector<uint64_t>{code, 0x30000, cut(WIRE_STOP_NO_MAPPING)}));
    // As the outermost function of a thread may have it.
    words[stack_start + 24] = 0;
    EXPECT_EQ(walk(stack_start + 16), (std::vector{code}));
    readable_from = stack_start + 32;
    EXPECT_EQ(walk(stack_start + 16), (std::vector{code, cut(WIRE_STOP_UNREADABLE)}));
}

TEST_F(MadeUpStacks, TakeTheStackPointersWordInAPrologueOnly) {
    const uint64_t caller = after_call(code + 0x100), other = code + 0x200;
    words[stack_start] = other; // not behind a call
    EXPECT_EQ(walk(), (std::vector{code}));
    for (const uint64_t bytes : {0x55u, 0xc3u, 0x0008c2u, 0xc3f3u, 0xfa1e0ff3u}) {
        words[code] = bytes;
        EXPECT_EQ(walk(), (std::vector{code, other})) << std::hex << bytes;
    }
    // Behind `push %rbp` the caller's stands above it.
    words[code - 8] = uint64_t{0x55} << 56;
    words[stack_start] = 0;
    words[stack_start + 8] = caller;
    for (const uint64_t bytes : {0xe58948u, 0xec8b48u}) {
        words[code] = bytes;
        EXPECT_EQ(walk(), (std::vector{code, caller})) << std::hex << bytes;
    }
}

TEST_F(MadeUpStacks, GoUpOrEnd) {
    const uint64_t caller = after_call(code + 0x100);
    words[stack_start + 8] = caller;
    // A chain of frame pointers that leads to itself, or down, or to where nothing is.
    for (const uint64_t next :
         {stack_start, stack_start - 64, stack_start + 1, uint64_t{1} << 60}) {
        words[stack_start] = next;
        EXPECT_EQ(walk(stack_start),
                  (std::vector{code, caller,
                               cut(next > stack_start + 16 && next % 8 == 0 ? WIRE_STOP_UNREADABLE
                                                                            : WIRE_STOP_NO_TABLE)}))
            << next;
    }
    // A rule by which the caller's stack pointer is our own.
    wire_unwind_rule rule = {};
    rule.cfa = WIRE_CFA_REGISTER;
    rule.cfa_register = 7;
    words[stack_start - 8] = caller;
    EXPECT_EQ(walk(0, rule), (std::vector{code, cut(WIRE_STOP_STUCK)}));
    // Return addresses that no address can be.
    rule.offset = 8;
    words[stack_start] = uint64_t{1} << 60;
    EXPECT_EQ(walk(0, rule), (std::vector{code, cut(WIRE_STOP_STUCK)}));
    EXPECT_EQ(walk_from({~uint64_t{0}, 0}), (std::vector{cut(WIRE_STOP_STUCK)}));
}

// Two return probes are at one place, behind another's.
TEST_F(MadeUpStacks, HaveTheReturnAddressesThatProbesReplaced) {
    constexpr uint64_t probes = 0x7ffffffff000;
    wire_unwind_rule rule = {};
    rule.cfa = WIRE_CFA_REGISTER;
    rule.cfa_register = 7;
    rule.offset = 16;
    words[stack_start + 8] = words[stack_start + 24] = probes;
    const walked_return first = {stack_start + 8, code + 0x20};
    EXPECT_EQ(walk_from({code, stack_start}, rule,
                        {first, {stack_start + 24, probes}, {stack_start + 24, code + 0x30}}),
              (std::vector{code, code + 0x20, code + 0x30}));
    EXPECT_EQ(walk_from({code, stack_start}, rule, {first}),
              (std::vector{code, code + 0x20, probes, cut(WIRE_STOP_NO_MAPPING)}));
}

// As in vfork(), of the innermost frame: nobody knows what an outer one had there.
TEST_F(MadeUpStacks, MayHaveTheReturnAddressInARegister) {
    wire_unwind_rule rule = {};
    rule.cfa = WIRE_CFA_REGISTER;
    rule.cfa_register = 7;
    rule.return_kind = WIRE_RETURN_REGISTER;
    rule.return_register = test::WalkedProcess::first_argument;
    EXPECT_EQ(walk_from({code, stack_start, 0, 0, code + 0x20}, rule),
              (std::vector{code, code + 0x20, cut(WIRE_STOP_UNSUPPORTED)}));
}

TEST_F(MadeUpStacks, MayGoOnOnOthers) {
    // Over and over: it ends all the same.
    wire_unwind_rule rule = {};
    rule.cfa = WIRE_CFA_OTHER_STACK;
    rule.cfa_register = 7;
    rule.offset = 16;
    for (uint64_t at = stack_start; at < stack_end; at += 8)
        words[at] = code + 0x100;
    const auto stack = walk(0, rule);
    ASSERT_EQ(stack.size(), size_t{WIRE_MAX_USER_FRAMES} + 1);
    EXPECT_EQ(stack.back(), cut(WIRE_STOP_DEPTH));
    // Of a goroutine, by a thread pointer that leads nowhere.
    rule.cfa = WIRE_CFA_GOROUTINE;
    EXPECT_EQ(walk(0, rule), (std::vector{code, cut(WIRE_STOP_UNREADABLE)}));
}

// Of a Java thread: its interpreter, an outer frame of which executes a method and has called
// another one, and code that was compiled.
class MadeUpJava : public testing::Test {
  protected:
    static constexpr uint64_t interpreter = 0x7e0000050000, method = 0x7e0000060000,
                              const_method = 0x7e0000061000;
    static constexpr uint64_t sp = 0x7f0000000000, frame = sp + 256,
                              bytecode = const_method + 64 + 5;

    MadeUpJava() {
        layout.interpreter = interpreter;
        layout.interpreter_size = 0x1000;
        layout.method_const = 8;
        layout.const_constants = 16;
        layout.const_code_size = 24;
        layout.const_name = 26;
        layout.const_bytecode = 64;
        words[method + 8] = const_method;
        words[const_method + 24] = 100; // bytes of bytecode
        words[frame - 64] = bytecode;
        words[frame - 24] = method;
        words[frame - 8] = frame + 64; // the caller's stack pointer
        words[frame + 8] = 0;          // ... and there is none
    }
    // While the interpreter begins a method that was called with this stack pointer.
    std::vector<uint64_t> walk(uint64_t caller_sp) {
        test::WalkedProcess process;
        process.process.hotspot = 1;
        process.hotspot = &layout;
        process.map({{interpreter, interpreter + 0x1000, 0, 0, WIRE_MAPPING_HOTSPOT}});
        return process.walk(
            {.ip = interpreter + 0x100, .sp = sp, .bp = frame, .r13 = caller_sp},
            [this](uint64_t address, void* bytes, size_t size) {
                std::memset(bytes, 0, size);
                for (size_t i = 0; i + 8 <= size; i += 8)
                    if (const auto word = words.find(address + i); word != words.end())
                        std::memcpy(static_cast<char*>(bytes) + i, &word->second, 8);
                return true;
            });
    }

    wire_hotspot layout = {};
    std::map<uint64_t, uint64_t> words;
};

// The frame that calls, which has the stack pointer: as an address, since JDK 22 as a number of
// words.
TEST_F(MadeUpJava, TheCallerOfWhatBeginsIsTheFrameThatHasItsStackPointer) {
    const uint64_t caller_sp = frame - 128;
    for (const uint64_t last : {caller_sp, static_cast<uint64_t>(-16)}) {
        words[frame - 16] = last;
        const auto stack = walk(caller_sp);
        ASSERT_GE(stack.size(), 2u);
        EXPECT_EQ(stack[0], WIRE_FRAME_HOTSPOT_BYTECODE | method);
        EXPECT_EQ(stack[1] >> 32, 5u); // the bytecode's index
    }
}

// Compiled code has called, which keeps no frame pointer: the frame is that of an outer caller.
TEST_F(MadeUpJava, CompiledCallersAreNotLeftOut) {
    words[frame - 16] = frame - 128;
    EXPECT_THAT(walk(sp + 8),
                testing::ElementsAre(WIRE_FRAME_HOTSPOT_BYTECODE, 0, cut(WIRE_STOP_NO_TABLE)));
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
