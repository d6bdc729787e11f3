// SPDX-License-Identifier: GPL-3.0-or-later
// Where the end of a call can be seen before the ret, on hand-assembled functions: one per rule.
// What becomes of it when they run: tests/kernel/cheap_exits_test.cpp.
#include "loader/reader/code/function_code.h"
#include "tests/unit/brief_code.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <ostream>

namespace auger {
namespace {

constexpr uint64_t base = 0x1000;

// An exit, as far as it matters here.
struct Seen {
    uint64_t offset;
    uint8_t condition = no_condition;
    uint32_t distance = 0;
    bool from_frame_pointer = false;

    friend bool operator==(const Seen&, const Seen&) = default;
    friend void PrintTo(const Seen& seen, std::ostream* out) {
        *out << "{" << seen.offset << ", " << int(seen.condition) << ", " << seen.distance << ", "
             << seen.from_frame_pointer << "}";
    }
};
using All = std::vector<Seen>;

constexpr uint8_t if_equal = 4, if_unequal = 5; // je, jne

All cheap(const std::vector<int>& code, bool in_go = false) {
    std::vector<std::byte> bytes;
    for (const int value : code)
        bytes.push_back(static_cast<std::byte>(value));
    const auto analysed = analyse_function(
        {base, bytes}, {}, [](uint64_t, size_t) { return std::vector<std::byte>(); }, in_go);
    EXPECT_TRUE(analysed.ok()) << (analysed.ok() ? "" : analysed.error().cause);
    All all;
    if (analysed.ok())
        for (const CodeExit& exit : analysed->cheap_exits)
            all.push_back({exit.address - base, exit.conditional ? exit.condition : no_condition,
                           exit.frame_distance, exit.from_frame_pointer});
    return all;
}

TEST(CheapExits, AreAtAJumpThatDoesNotJump) {
    // 0: push %rbx  1: sub $16,%rsp  5: cmp %eax,%ecx  7: jne e  9: add $16,%rsp  d: pop; ret; f:
    // ud2
    EXPECT_EQ(cheap({0x53, 0x48, 0x83, 0xec, 0x10, 0x39, 0xc1, 0x75, 0x06, 0x48, 0x83, 0xc4, 0x10,
                     0x5b, 0xc3, 0x0f, 0x0b}),
              (All{{7, if_equal, 24}}));
}

TEST(CheapExits, AreAtJumpsToWhatEndsThere) {
    // 0: push %rbx  1: cmp %eax,%ecx  3: je a  5: cmp %eax,%edx  7: jne a  9: nop  a: pop; ret
    EXPECT_EQ(cheap({0x53, 0x39, 0xc1, 0x74, 0x05, 0x39, 0xc2, 0x75, 0x01, 0x90, 0x5b, 0xc3}),
              (All{{3, if_equal, 8}, {7, if_unequal, 8}, {9, no_condition, 8}}));
}

TEST(CheapExits, AreAtAJumpBothOfWhoseWaysLeadOut) {
    // 0: push %rbx  1: cmp %eax,%ecx  3: je 7  5: pop %rbx  6: ret  7: pop %rbx  8: ret
    EXPECT_EQ(cheap({0x53, 0x39, 0xc1, 0x74, 0x02, 0x5b, 0xc3, 0x5b, 0xc3}),
              (All{{3, no_condition, 8}}));
}

TEST(CheapExits, GoByTheFramePointerWhereTheStackPointerDoes) {
    // 0: push %rbp  1: mov %rsp,%rbp  4: push %rbx  5: cmp  7: je f
    // 9: lea -8(%rbp),%rsp  d: pop %rbx  e: pop %rbp; f: ret -- the je leads to a ret with two
    // words left, so that one only goes where the code is sane: here to ud2
    EXPECT_EQ(cheap({0x55, 0x48, 0x89, 0xe5, 0x53, 0x39, 0xc1, 0x74, 0x07, 0x48, 0x8d, 0x65, 0xf8,
                     0x5b, 0x5d, 0xc3, 0x0f, 0x0b}),
              (All{{7, if_unequal, 8, true}}));
    // ... and leave
    EXPECT_EQ(cheap({0x55, 0x48, 0x89, 0xe5, 0x53, 0x39, 0xc1, 0x74, 0x02, 0xc9, 0xc3, 0x0f, 0x0b}),
              (All{{7, if_unequal, 8, true}}));
}

TEST(CheapExits, AreNotWhereTheFrameIsNotTold) {
    // push %rbp; mov %rsp,%rbp; cmp; jne +4; mov %rcx,%rsp; ret; ud2
    EXPECT_EQ(
        cheap({0x55, 0x48, 0x89, 0xe5, 0x39, 0xc1, 0x75, 0x04, 0x48, 0x89, 0xcc, 0xc3, 0x0f, 0x0b}),
        All());
    // push %rbp; mov %rsp,%rbp; cmp; jne +5; pop %rbp; leave; ret: rbp is another's by then
    EXPECT_EQ(cheap({0x55, 0x48, 0x89, 0xe5, 0x39, 0xc1, 0x75, 0x03, 0x5d, 0xc9, 0xc3, 0x0f, 0x0b}),
              All());
}

TEST(CheapExits, AreNotAtTheJumpOfALoop) {
    // 0: push %rbx  1: dec %ecx  3: jne 1  5: pop %rbx  6: ret
    EXPECT_EQ(cheap({0x53, 0xff, 0xc9, 0x75, 0xfc, 0x5b, 0xc3}), All());
    // 0: push  1: cmp  3: je a  5: dec %ecx  7: jmp 1  9: nop  a: pop  b: ret -- left from its
    // middle
    EXPECT_EQ(cheap({0x53, 0x39, 0xc1, 0x74, 0x05, 0xff, 0xc9, 0xeb, 0xf8, 0x90, 0x5b, 0xc3}),
              All());
}

TEST(CheapExits, AreNotBehindACallOrAnUnknownWay) {
    // push %rbx; call +0; pop %rbx; ret
    EXPECT_EQ(cheap({0x53, 0xe8, 0, 0, 0, 0, 0x5b, 0xc3}), All());
    // push; cmp; jne +2; pop; ret; (nobody jumps here) pop; ret: that ret stays
    EXPECT_EQ(cheap({0x53, 0x39, 0xc1, 0x75, 0x04, 0x5b, 0xc3, 0x5b, 0xc3, 0x0f, 0x0b}),
              (All{{3, if_equal, 8}, {8}}));
}

TEST(CheapExits, OfSomeWaysAreWorthIt) {
    // 0: push  1: cmp  3: je c  5: call  a: mov %ecx,%edx  c: pop  d: ret
    EXPECT_EQ(cheap({0x53, 0x39, 0xc1, 0x74, 0x07, 0xe8, 0, 0, 0, 0, 0x89, 0xca, 0x5b, 0xc3}),
              (All{{3, if_equal, 8}, {10, no_condition, 8}}));
    // The same without an instruction of its own behind the call.
    EXPECT_EQ(cheap({0x53, 0x39, 0xc1, 0x74, 0x05, 0xe8, 0, 0, 0, 0, 0x5b, 0xc3}), All());
}

TEST(CheapExits, MayBeWhereCallsBegin) {
    // 0: test %edi,%edi  2: je 6 (the entry)  4: push; pop  6: ret
    const std::vector<int> code = {0x85, 0xff, 0x74, 0x02, 0x53, 0x5b, 0xc3};
    EXPECT_EQ(cheap(code), (All{{2, if_equal}, {4}}));
    // A goroutine's stack may be made larger there.
    EXPECT_EQ(cheap(code, true), All());
}

TEST(CheapExits, AreNotWhereAllCallsBegin) {
    // push (the entry); pop; ret
    EXPECT_EQ(cheap({0x53, 0x5b, 0xc3}), All());
    // 0: test %edi,%edi  2: je 5 (the entry)  4: ret  5: ret
    EXPECT_EQ(cheap({0x85, 0xff, 0x74, 0x01, 0xc3, 0xc3}), All());
}

TEST(CheapExits, AreBesideJumpsOutOfTheFunction) {
    // 0: cmp %eax,%ecx  2: jne out  4: ret
    EXPECT_EQ(cheap({0x39, 0xc1, 0x75, 0x20, 0xc3}), (All{{2, if_equal}, {2, if_unequal}}));
}

TEST(CheapExits, AreReachedByNobodyThroughPadding) {
    // 0: push  1: cmp  3: jne c  5: pop  6: ret  7: nop of five bytes  c: pop  d: ret
    EXPECT_EQ(
        cheap({0x53, 0x39, 0xc1, 0x75, 0x07, 0x5b, 0xc3, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x5b, 0xc3}),
        (All{{3, no_condition, 8}}));
    // A nop that something else leads to is none: 7: jmp 9  9: nop  a: pop  b: ret
    EXPECT_EQ(cheap({0x53, 0x39, 0xc1, 0x75, 0x02, 0x5b, 0xc3, 0xeb, 0x00, 0x90, 0x5b, 0xc3}),
              (All{{3, if_equal, 8}, {9, no_condition, 8}}));
}

TEST(CheapExits, LeaveLittleOut) {
    // push; cmp; jne; some nops of two bytes; pop; ret; ud2
    const auto with = [](int count) {
        std::vector<std::byte> code;
        for (const int value : {0x53, 0x39, 0xc1, 0x75, 2 * count + 2})
            code.push_back(static_cast<std::byte>(value));
        for (int i = 0; i < count; i++)
            code.insert(code.end(), {std::byte{0x66}, std::byte{0x90}});
        for (const int value : {0x5b, 0xc3, 0x0f, 0x0b})
            code.push_back(static_cast<std::byte>(value));
        return analyse_function({base, code}, {},
                                [](uint64_t, size_t) { return std::vector<std::byte>(); })
            ->cheap_exits.size();
    };
    EXPECT_EQ(with(14), 1u); // 16 with the pop and the ret
    EXPECT_EQ(with(15), 0u);
}

// push %rbx; cmp %eax,%ecx; jne ud2; the instruction; pop %rbx; ret; ud2
All before_the_last(const OneInstruction& instruction) {
    std::vector<int> code = {0x53, 0x39, 0xc1, 0x75, static_cast<int>(instruction.code.size() + 2)};
    code.insert(code.end(), instruction.code.begin(), instruction.code.end());
    code.insert(code.end(), {0x5b, 0xc3, 0x0f, 0x0b});
    return cheap(code);
}

TEST(CheapExits, LeaveOutWhatNeitherFaultsNorTakesLong) {
    for (const OneInstruction& instruction : brief_instructions)
        EXPECT_EQ(before_the_last(instruction), (All{{3, if_equal, 8}})) << instruction.text;
}

TEST(CheapExits, AreNotBeforeWhatMayFaultOrTakeLong) {
    for (const OneInstruction& instruction : other_instructions)
        EXPECT_EQ(before_the_last(instruction), All()) << instruction.text;
    // The other ways to the ret are seen where they come from.
    // 0: push  1: cmp  3: je c  5: cmp  7: mov (%rdi),%rax  a: mov %eax,%edx  c: pop  d: ret
    EXPECT_EQ(
        cheap({0x53, 0x39, 0xc1, 0x74, 0x07, 0x39, 0xc2, 0x48, 0x8b, 0x07, 0x89, 0xc2, 0x5b, 0xc3}),
        (All{{3, if_equal, 8}, {10, no_condition, 8}}));
}

TEST(CheapExits, LeaveOutTheFrameByItsPointer) {
    // push %rbp; mov %rsp,%rbp; cmp; jne ud2; mov -8(%rbp),%rax; leave; ret; ud2
    EXPECT_EQ(cheap({0x55, 0x48, 0x89, 0xe5, 0x39, 0xc1, 0x75, 0x06, 0x48, 0x8b, 0x45, 0xf8, 0xc9,
                     0xc3, 0x0f, 0x0b}),
              (All{{6, if_equal, 8, true}}));
    // ... pop %rbp
    EXPECT_EQ(cheap({0x55, 0x48, 0x89, 0xe5, 0x39, 0xc1, 0x75, 0x06, 0x48, 0x8b, 0x45, 0xf8, 0x5d,
                     0xc3, 0x0f, 0x0b}),
              (All{{6, if_equal, 8}}));
    // ... pop %rbp; mov -8(%rbp),%rax; ret: it is the caller's by then
    EXPECT_EQ(cheap({0x55, 0x48, 0x89, 0xe5, 0x39, 0xc1, 0x75, 0x06, 0x5d, 0x48, 0x8b, 0x45, 0xf8,
                     0xc3, 0x0f, 0x0b}),
              All());
    // push %rbp; mov %rdi,%rbp; cmp; jne ud2; mov -8(%rbp),%rax; pop %rbp; ret; ud2
    EXPECT_EQ(cheap({0x55, 0x48, 0x89, 0xfd, 0x39, 0xc1, 0x75, 0x06, 0x48, 0x8b, 0x45, 0xf8, 0x5d,
                     0xc3, 0x0f, 0x0b}),
              All());
}

// A jump's probe is hit by those that go on, too.
TEST(CheapExits, AreNotManyForOneRet) {
    const auto with = [](int count) {
        // push; `count` times je to the pop; nop; pop; ret
        std::vector<std::byte> code{std::byte{0x53}};
        for (int i = count; i > 0; i--)
            code.insert(code.end(), {std::byte{0x74}, static_cast<std::byte>(2 * i - 1)});
        for (const int value : {0x90, 0x5b, 0xc3})
            code.push_back(static_cast<std::byte>(value));
        return analyse_function({base, code}, {},
                                [](uint64_t, size_t) { return std::vector<std::byte>(); })
            ->cheap_exits.size();
    };
    EXPECT_EQ(with(3), 4u);
    EXPECT_EQ(with(4), 0u);
    EXPECT_EQ(with(50), 0u);
}

TEST(CheapExits, AreNotWhereAJumpMayLeadAnywhere) {
    // push; cmp; jne +2; pop; ret; jmp *%rax, with the stack as it is
    EXPECT_EQ(cheap({0x53, 0x39, 0xc1, 0x75, 0x02, 0x5b, 0xc3, 0xff, 0xe0}), All());
    // ... taken down: a tail call. The ret is cheap, the jump stays.
    EXPECT_EQ(cheap({0x53, 0x39, 0xc1, 0x75, 0x02, 0x5b, 0xc3, 0x5b, 0xff, 0xe0}),
              (All{{3, if_equal, 8}, {8}}));
}

} // namespace
} // namespace auger
