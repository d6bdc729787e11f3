// SPDX-License-Identifier: GPL-3.0-or-later
// Pointers that are followed and counted with, casts and arithmetic, where nothing is known of the
// function but the calling convention.
#include "tests/unit/loader_values_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace auger {
namespace {

using test::call_with;
using test::compiled;
using test::complaint_of;
using test::holds;
using test::holds_in;
using test::Machine;
using test::Memory;
using test::shows;
using testing::ElementsAre;

TEST(Predicates, Arithmetic) {
    const auto minus = [](uint64_t number) { return -number; };
    EXPECT_TRUE(holds("arg0 == 4 * 1024 + 1", {4097}));
    EXPECT_TRUE(holds("arg0 + 1 == 4", {3}));
    EXPECT_TRUE(holds("-arg0 == 3", {minus(3)}));
    EXPECT_TRUE(holds("arg1 - arg0 == -2", {5, 3}));
    EXPECT_FALSE(holds("arg1 - arg0 > 0", {5, 3}));
    EXPECT_TRUE(holds("(u64)arg1 - arg0 > 0", {5, 3}));
    EXPECT_TRUE(holds("arg0 * 3 == 21 and 3 * arg0 == 21 and arg0 * arg1 == 14", {7, 2}));
    EXPECT_TRUE(holds("arg0 + arg1 * 2 == 11", {7, 2}));
    EXPECT_TRUE(holds("(arg0 + arg1) * 2 == 18", {7, 2}));
    EXPECT_TRUE(holds("arg0 - arg1 - 1 == 4", {7, 2}));
    EXPECT_TRUE(holds("1 << arg1 == 4 and arg0 << 1 == 14 and arg0 >> 1 == 3", {7, 2}));
    EXPECT_TRUE(holds("arg0 >> 1 == -4", {minus(7)}));
    EXPECT_TRUE(holds("(u64)arg0 >> 60 == 15", {minus(7)}));
    EXPECT_TRUE(holds("arg0 | 8 == 15 and arg0 | arg1 == 7", {7, 2}));
    EXPECT_TRUE(holds("arg0 & 6 == 6 and arg0 & arg1", {7, 2}));
    EXPECT_FALSE(holds("arg0 & 6 == 6", {5}));
    EXPECT_FALSE(holds("not (arg0 & arg1)", {7, 2}));
    // Towards zero, and what is left has the sign of what was divided.
    EXPECT_TRUE(holds("arg0 / 2 == 3 and arg0 % 2 == 1 and arg0 / arg1 == 3", {7, 2}));
    EXPECT_TRUE(holds("arg0 / 2 == -3 and arg0 % 2 == -1 and arg0 % arg1 == -1", {minus(7), 2}));
    EXPECT_TRUE(holds("7 / arg0 == -3 and 7 % arg0 == 1", {minus(2)}));
    EXPECT_TRUE(holds("arg0 * 3 == -7 / 2 and arg0 == -7 % 2", {minus(1)}));
    EXPECT_TRUE(holds("(u64)arg0 / 2 == 0x7ffffffffffffffc", {minus(7)}));
    EXPECT_TRUE(holds("(u64)arg0 % 10 == 9 and 19 % (u64)arg1 == 9", {minus(7), 10}));
    EXPECT_TRUE(holds("arg0 / arg1 == arg0", {uint64_t{1} << 63, minus(1)}));
    for (const char* text : {"arg0 / arg1 == 0", "arg0 % arg1 == 0", "not (arg0 / arg1 == 0)",
                             "1 / arg1 != 0", "1 % (u64)arg1 != 0"})
        EXPECT_FALSE(holds(text, {7, 0})) << text;
    // Tighter is what stands first: * / and % as they come, + << & | and then comparisons.
    EXPECT_TRUE(holds("arg0 + 12 / 4 * 2 % 4 == 3", {1}));
    EXPECT_TRUE(holds("arg0 | 1 + 1 << 1 & 12 == 12 | 5", {9}));
    EXPECT_TRUE(holds("arg0 == 1 | 2 << 1 + 1 * 2", {17}));
    // What does not fit wraps.
    EXPECT_TRUE(holds("arg0 + 1 == 0", {UINT64_MAX}));
    EXPECT_TRUE(holds("arg0 + 0x7fffffff00000000 == 0x7fffffff00000001", {1}));
}

TEST(Predicates, Casts) {
    EXPECT_TRUE(holds("(u8)arg0 == 0xfe and (s8)arg0 == -2 and (int8)arg0 == -2", {0x1fe}));
    EXPECT_TRUE(holds("(uint16_t)arg0 == 0xfffe and (int)arg0 == -2", {0xfffffffe}));
    EXPECT_TRUE(holds("(unsigned long int)arg0 > 0 and (long long)arg0 < 0", {UINT64_MAX}));
    EXPECT_TRUE(holds("(u32)(s8)arg0 == 0xfffffffe", {0xfe}));
    EXPECT_TRUE(holds("(s64)(u8)arg0 == 254", {0xfffe}));
    EXPECT_TRUE(holds("(u8)(arg0 + 1) == 0", {0xff}));
    EXPECT_TRUE(holds("(u8)arg0 + 1 == 256", {0xff}));
    EXPECT_TRUE(holds("(char)arg0 == 'x'", {'x'}));
    EXPECT_TRUE(holds("(arg0) - 3 == 1 and (arg0) & 4 and (arg0) * 2 == 8", {4}));
}

TEST(Predicates, Pointers) {
    Memory memory;
    memory.put_string(0x1000, "GET");
    memory.put(0x2000, std::array<uint64_t, 4>{0x1000, 0x2010, 0xfffffffffffffffe, 7});
    memory.put(0x3000, std::array<uint32_t, 3>{1, 0xffffffff, 3});
    const Machine machine = call_with({0x1ff8, 0x2000, 0x3000, 2}, memory);
    for (const char* text : {"*arg1 == 0x1000",
                             "*(arg0 + 8) == 0x1000",
                             "*(8 + arg0) == 0x1000",
                             "arg1[2] == -2",
                             "arg1[arg3] == -2",
                             "arg0[1] == 0x1000",
                             "(arg1 + 8)[-1] == 0x1000",
                             "**(arg1 + 8) == -2",
                             "*(*(arg1 + 8) + 8) == 7",
                             "*(arg1[1] - 8) == 0x2010",
                             "str(*arg1) == 'GET'",
                             "'GET' == str(*(arg0 + 8))",
                             "str(arg1[0] + 1) == 'ET'",
                             "str(arg1[arg3 - 2]) == 'GET'",
                             "*(u32 *)(arg2 + 4) == 0xffffffff",
                             "*(s32 *)(arg2 + 4) == -1",
                             "((u32 *)arg2)[2] == 3",
                             "((u32 *)arg2)[arg3] == 3",
                             "*((u32 *)arg2 + 2) == 3",
                             "*((u32 *)arg2 + arg3) == 3",
                             "*(arg3 + (u32 *)arg2) == 3",
                             "(u8)arg1[2] == 254",
                             "(u8 *)arg2 - (u8 *)arg1 == 4096",
                             "(u64 *)arg2 - (u64 *)arg1 == 512",
                             "(u64 *)arg1 - (u64 *)arg2 == -512",
                             "&arg1[3] == 0x2018",
                             "*&arg1[3] == 7",
                             "*(u8 *)&arg1[2] == 254",
                             "(char **)arg1 == 0x2000",
                             "str(*(char **)arg1) == 'GET'",
                             "*(u64 *)arg1[1] == 0xfffffffffffffffe"})
        EXPECT_TRUE(holds_in(text, machine)) << text;
    // Beyond what can be read: neither this nor its opposite, however it is computed.
    for (const char* text : {"arg1[4] == 0", "arg1[4] != 0", "arg1[arg3 + 2] != 0", "*arg1[4] != 0",
                             "arg1[4] + arg3 != 0", "arg3 - arg1[4] != 0"})
        EXPECT_FALSE(holds_in(text, machine)) << text;
}

TEST(ValuesByPosition, OfWhatIsComputed) {
    const CallProgram program =
        compiled(shows({"arg1 - arg0", "(u8)arg1", "*(arg0 + 8)", "arg0 + ret", "arg0"}));
    Memory memory;
    memory.put(0x2000, uint64_t{33});
    Machine machine = call_with({0x1ff8, 0x2008}, memory);
    machine.at_end[0] = 8;
    const wire_values values = machine.run(program.wire);
    EXPECT_THAT(format_values(program, values, {}),
                ElementsAre(CallValue{"arg1 - arg0", "16"}, CallValue{"(u8)arg1", "8"},
                            CallValue{"*(arg0 + 8)", "33"}, CallValue{"arg0 + ret", "8192"},
                            CallValue{"arg0", "8184"}));
    // What is read at the call's end makes what is computed of it so.
    for (const ShownValue& shown : program.shown)
        EXPECT_EQ((program.wire.fetch[shown.value].flags & WIRE_FETCH_AT_END) != 0,
                  shown.name == "arg0 + ret")
            << shown.name;
}

TEST(Predicates, ComplaintsAboutPointersAndArithmetic) {
    EXPECT_EQ(complaint_of("(request *)arg0"),
              "request *: there is no debug information that could know the type \"request\": "
              "nothing is known of the function's module");
    EXPECT_EQ(complaint_of("(u33)arg0"),
              "u33: there is no debug information that could know the type \"u33\": nothing is "
              "known of the function's module");
    EXPECT_EQ(complaint_of("(bool)arg0"), "bool: is not a type to cast to");
    EXPECT_EQ(complaint_of("(double)arg0"),
              "double: is neither an integer nor a pointer: it is double");
    EXPECT_EQ(complaint_of("*(void *)arg0"), "(void *)arg0: leads to void, which cannot be read");
    EXPECT_EQ(complaint_of("*(double *)arg0"),
              "*(double *)arg0: is a floating-point number (double), which cannot be read");
    EXPECT_EQ(complaint_of("*(u32)arg0"),
              "(u32)arg0: is neither a pointer nor an array: it is u32");
    EXPECT_EQ(complaint_of("&arg0"), "arg0: lies in registers, not in memory");
    EXPECT_EQ(complaint_of("&7"), "7: is not a value of a call");
    EXPECT_EQ(complaint_of("(u8)7"), "7: is not a value of a call");
    EXPECT_EQ(complaint_of("str(arg0) + 1"), "str(arg0): is a string, not a number or pointer");
    EXPECT_EQ(complaint_of("(arg0 > 1) + 1"), "(arg0 > 1): is a condition where a value is wanted");
    EXPECT_EQ(complaint_of("arg0 << 64"), "64: is not a number of bits to shift by");
    EXPECT_EQ(complaint_of("arg0 == 1 << 64"),
              "1 << 64: shifts by something that is not a number of bits");
    EXPECT_EQ(complaint_of("arg0 == 0xffffffffffffffff + 1"),
              "0xffffffffffffffff + 1: does not fit into 64 bits");
    EXPECT_EQ(complaint_of("arg0 == 0xffffffffffffffff * 0xffffffffffffffff"),
              "0xffffffffffffffff * 0xffffffffffffffff: does not fit into 64 bits");
    EXPECT_EQ(complaint_of("(u8 *)arg0 + (u8 *)arg1"), "(u8 *)arg1: is a pointer, and is added to "
                                                       "one");
    EXPECT_EQ(complaint_of("8 - (u8 *)arg1"),
              "(u8 *)arg1: is a pointer, and what is subtracted or shifted by is a number");
    EXPECT_EQ(complaint_of("arg0 - (u8 *)arg1"),
              "(u8 *)arg1: is a pointer, and is subtracted from a number");
    EXPECT_EQ(complaint_of("(u64 *)arg0 - (u32 *)arg1"),
              "(u32 *)arg1: is a pointer to something of another size");
    EXPECT_EQ(complaint_of("arg0 / 0"), "0: is what nothing can be divided by");
    EXPECT_EQ(complaint_of("arg0 == 1 % 0"), "1 % 0: divides by zero");
    EXPECT_EQ(complaint_of("arg0[(u8 *)arg1]"), "(u8 *)arg1: is a pointer, and no index");
    std::string many = "arg0";
    for (int i = 0; i < 65; ++i)
        many += " + 1";
    EXPECT_EQ(complaint_of(many), many + ": has too many operations");
    EXPECT_EQ(complaint_of("arg0 + arg1 + arg2 + arg3 + arg4"),
              "arg0 + arg1 + arg2 + arg3 + arg4: is one value too many");
    const std::string far = "*******arg0";
    EXPECT_EQ(complaint_of(far), far + ": takes 7 steps through memory: 6 is the most");
}

} // namespace
} // namespace auger
