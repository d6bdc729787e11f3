// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions and predicates where nothing is known of the function but the calling convention.
#include "tests/unit/loader_values_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using testing::HasSubstr;

TEST(ValuesByPosition, RegistersAndStack) {
    const std::vector<uint64_t> arguments{10, 11, 12, 13, 14, 15, 16, 17, 18};
    const CallProgram program =
        compiled(shows({"arg8", "arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "arg6"}));
    const wire_values values = call_with(arguments).run(program.wire);
    EXPECT_THAT(format_values(program, values, {}),
                ElementsAre(CallValue{"arg8", "18"}, CallValue{"arg0", "10"},
                            CallValue{"arg1", "11"}, CallValue{"arg2", "12"},
                            CallValue{"arg3", "13"}, CallValue{"arg4", "14"},
                            CallValue{"arg5", "15"}, CallValue{"arg6", "16"}));
}

TEST(ValuesByPosition, ResultIsReadAtTheEnd) {
    const CallProgram program = compiled(shows({"arg0", "ret"}));
    Machine machine = call_with({3});
    machine.at_entry[0] = 100;
    machine.at_end[0] = static_cast<uint64_t>(-7);
    machine.at_end[5] = 99;
    EXPECT_THAT(format_values(program, machine.run(program.wire), {}),
                ElementsAre(CallValue{"arg0", "3"}, CallValue{"ret", "-7"}));
}

TEST(ValuesByPosition, Strings) {
    const CallProgram program = compiled(shows({"str(arg0)", "str(arg1)", "arg1"}));
    Memory memory;
    memory.put_string(0x1000, "GET /\x1b[2J");
    memory.put_string(0x2000, std::string(200, 'x'));
    wire_values values = call_with({0x1000, 0x2000}, memory).run(program.wire);
    EXPECT_THAT(format_values(program, values, {}),
                ElementsAre(CallValue{"str(arg0)", "\"GET /\x1b[2J\""},
                            CallValue{"str(arg1)", "\"" + std::string(63, 'x') + "\"..."},
                            CallValue{"arg1", "8192"}));
    values = call_with({0, 0xdead0000dead}, memory).run(program.wire);
    EXPECT_THAT(format_values(program, values, {}),
                ElementsAre(CallValue{"str(arg0)", "null"},
                            CallValue{"str(arg1)", "unreadable (address 0xdead0000dead)", false},
                            CallValue{"arg1", "0xdead0000dead"}));
}

TEST(ValuesByPosition, TheTaskThatRuns) {
    const CallProgram program =
        compiled(shows({"task", "*(u32 *)(task + 16)", "(u64)task - arg0"}));
    EXPECT_EQ(program.wire.fetch[0].base, WIRE_BASE_TASK);
    EXPECT_EQ(program.formats[0].kind, ValueFormat::Kind::task);
    Memory memory;
    memory.put(0x7f5800000010, uint32_t{42});
    Machine machine = call_with({0x7f57ffffffff}, memory);
    machine.task = 0x7f5800000000;
    EXPECT_THAT(format_values(program, machine.run(program.wire), {}),
                ElementsAre(CallValue{"task", "0x7f5800000000"},
                            CallValue{"*(u32 *)(task + 16)", "42"},
                            CallValue{"(u64)task - arg0", "1"}));
    const auto name_of = [](uint64_t coroutine) {
        return std::string(coroutine == 0x7f5800000000 ? "Task-17" : "");
    };
    EXPECT_THAT(format_values(program, machine.run(program.wire), {}, name_of).front(),
                (CallValue{"task", "0x7f5800000000 (Task-17)"}));
    machine.task = 0x7f5800000001;
    EXPECT_THAT(format_values(program, machine.run(program.wire), {}, name_of).front(),
                (CallValue{"task", "0x7f5800000001"}));
    // tokio's and Java's have numbers.
    machine.task = 36;
    EXPECT_THAT(format_values(program, machine.run(program.wire), {}, name_of).front(),
                (CallValue{"task", "36"}));
    machine.task = 0;
    EXPECT_THAT(format_values(program, machine.run(program.wire), {}, name_of).front(),
                (CallValue{"task", "null"}));
    machine.task.reset();
    EXPECT_THAT(format_values(program, machine.run(program.wire), {}).front(),
                (CallValue{"task", "unreadable", false}));
    EXPECT_FALSE(holds_in("task == 0", machine));
    EXPECT_FALSE(holds_in("task != 0", machine));
}

TEST(ValuesByPosition, NothingIsAsked) {
    auto program = compile_program({}, {"f"});
    ASSERT_TRUE(program.ok());
    EXPECT_FALSE(program->has_value());
    // `show` is of slow calls, and there are none.
    ProgramRequest request = shows({"arg0"});
    request.traces_slow = false;
    program = compile_program(request, {"f"});
    ASSERT_TRUE(program.ok());
    EXPECT_FALSE(program->has_value());
}

TEST(ValuesByPosition, EqualValuesAreReadOnce) {
    ProgramRequest request = shows({"arg2", "ret"});
    request.conditions.only_if = "arg2 > 5 and ret < 0";
    request.conditions.slow_if = "arg2 > 5";
    request.split_if = "not (arg2 <= 5) or ret == 3";
    request.split_mark = 7;
    request.split_by = "arg2";
    const CallProgram program = compiled(request);
    EXPECT_EQ(program.wire.fetches, 2);
    EXPECT_EQ(program.wire.comparisons, 3);
    EXPECT_EQ(program.wire.label, 0);
    EXPECT_EQ(program.wire.split_mark, 7);
    EXPECT_EQ(program.wire.predicate[WIRE_PREDICATE_ONLY].at_end, 1);
    EXPECT_EQ(program.wire.predicate[WIRE_PREDICATE_SLOW].at_end, 0);
    EXPECT_EQ(program.wire.predicate[WIRE_PREDICATE_SPLIT].at_end, 1);
}

TEST(Predicates, Comparisons) {
    EXPECT_TRUE(holds("arg0 == 3", {3}));
    EXPECT_FALSE(holds("arg0 != 3", {3}));
    EXPECT_TRUE(holds("arg0 < -1", {static_cast<uint64_t>(-2)}));
    EXPECT_FALSE(holds("arg0 < -2", {static_cast<uint64_t>(-2)}));
    EXPECT_TRUE(holds("arg0 <= -2", {static_cast<uint64_t>(-2)}));
    EXPECT_TRUE(holds("4096 < arg2", {0, 0, 4097}));
    EXPECT_FALSE(holds("4096 < arg2", {0, 0, 4096}));
    EXPECT_TRUE(holds("0x10 >= arg0", {16}));
    EXPECT_TRUE(holds("arg1 > arg0", {1, 2}));
    EXPECT_FALSE(holds("arg1 > arg0", {2, 2}));
    EXPECT_TRUE(holds("arg0 < arg1", {static_cast<uint64_t>(-1), 1}));
    EXPECT_TRUE(holds("arg0", {1}));
    EXPECT_FALSE(holds("arg0", {0}));
    EXPECT_TRUE(holds("arg0 == 'x'", {'x'}));
    EXPECT_TRUE(holds("arg0 == null", {0}));
    EXPECT_TRUE(holds("arg0 == 0xffffffffffffffff", {UINT64_MAX}));
}

TEST(Predicates, Bits) {
    EXPECT_TRUE(holds("arg0 & 0x41", {0x40}));
    EXPECT_FALSE(holds("arg0 & 0x40", {0x3f}));
    EXPECT_TRUE(holds("not (arg0 & 0x40)", {0x3f}));
    EXPECT_TRUE(holds("!(arg0 & 64)", {0x3f}));
    EXPECT_TRUE(holds("(arg0 & 0x40) == 0", {0x3f}));
    EXPECT_TRUE(holds("arg0 & 0x40 != 0", {0x40}));
    EXPECT_TRUE(holds("arg0 & 0x8000000000000000", {uint64_t{1} << 63}));
}

TEST(Predicates, Strings) {
    Memory memory;
    memory.put_string(0x1000, "GET");
    memory.put_string(0x2000, std::string(80, 'x'));
    const Machine machine = call_with({0x1000, 0x2000, 0}, memory);
    EXPECT_TRUE(holds_in("str(arg0) == \"GET\"", machine));
    EXPECT_FALSE(holds_in("str(arg0) == 'GE'", machine));
    EXPECT_FALSE(holds_in("str(arg0) != \"GET\"", machine));
    EXPECT_TRUE(holds_in("'POST' != str(arg0)", machine));
    EXPECT_TRUE(holds_in("str(arg0) == \"\\x47E\\x54\"", machine));
    // A string that was cut equals nothing.
    EXPECT_FALSE(holds_in("str(arg1) == '" + std::string(62, 'x') + "'", machine));
    EXPECT_EQ(complaint_of("str(arg1) == '" + std::string(63, 'x') + "'"),
              "'" + std::string(63, 'x') + "': is too long to compare with");
}

// What cannot be read is neither equal nor unequal to anything.
TEST(Predicates, OfUnreadableValues) {
    const Machine machine = call_with({0x1000});
    for (const char* text : {"str(arg0) == 'x'", "str(arg0) != 'x'", "not (str(arg0) == 'x')",
                             "not not (str(arg0) == 'x')", "not (str(arg0) != 'x' or arg0 == 7)"})
        EXPECT_FALSE(holds_in(text, machine)) << text;
    EXPECT_TRUE(holds_in("str(arg0) == 'x' or arg0 == 0x1000", machine));
}

// Every way to write a condition is the same as carrying it out in C++.
TEST(Predicates, NormalForm) {
    struct Case {
        const char* text;
        bool (*truth)(uint64_t a, uint64_t b, uint64_t c);
    };
    const Case cases[] = {
        {"arg0 and arg1 or arg2", [](auto a, auto b, auto c) { return (a && b) || c; }},
        {"arg0 and (arg1 or arg2)", [](auto a, auto b, auto c) { return a && (b || c); }},
        {"not (arg0 and arg1) or arg2", [](auto a, auto b, auto c) { return !(a && b) || c; }},
        {"not (arg0 and (arg1 or not arg2))",
         [](auto a, auto b, auto c) { return !(a && (b || !c)); }},
        {"not arg0 == 0 && arg1", [](auto a, auto b, auto) { return !(a == 0) && b; }},
        {"!arg0 || !(arg1 || arg2)", [](auto a, auto b, auto c) { return !a || !(b || c); }},
        {"(arg0 or arg1) and (arg1 or arg2) and (arg2 or arg0)",
         [](auto a, auto b, auto c) { return (a || b) && (b || c) && (c || a); }},
        {"not (arg0 < 1 or arg1 >= 1) and (arg2) or (arg2 != 0 and arg1)",
         [](auto a, auto b, auto c) { return (!(a < 1 || b >= 1) && c) || (c && b); }},
    };
    for (const Case& one : cases)
        for (uint64_t bits = 0; bits < 8; ++bits) {
            const uint64_t a = bits & 1, b = bits >> 1 & 1, c = bits >> 2;
            EXPECT_EQ(holds(one.text, {a, b, c}), one.truth(a, b, c)) << one.text << ' ' << bits;
        }
}

TEST(Predicates, ComplaintsSayWhere) {
    EXPECT_EQ(complaint_of("arg0 = 3"), "=: is not a comparison");
    EXPECT_EQ(complaint_of("arg0 == "), ": a value is missing at the end");
    EXPECT_EQ(complaint_of("arg0 == 4k"), "4k: is not a number");
    EXPECT_EQ(complaint_of("arg0 == 18446744073709551616"),
              "18446744073709551616: does not fit into 64 bits");
    EXPECT_EQ(complaint_of("arg0 == -9223372036854775809"),
              "-9223372036854775809: does not fit into 64 bits");
    EXPECT_EQ(complaint_of("arg0 > 3 arg1"), "arg1: is too much here");
    EXPECT_EQ(complaint_of("(arg0 > 3"), ": a ) is missing");
    EXPECT_EQ(complaint_of("1 == 1"), "1 == 1: is the same for every call");
    EXPECT_EQ(complaint_of("arg0 and 1"), "1: is the same for every call");
    EXPECT_EQ(complaint_of("arg0 < arg1 < arg2"), "<: is a second comparison");
    EXPECT_EQ(complaint_of("str(arg0)"), "str(arg0): is a string, not a condition");
    EXPECT_EQ(complaint_of("arg0 == \"GET\""),
              "\"GET\": is a string, and is compared with a number");
    EXPECT_EQ(complaint_of("str(arg0) == 3"), "3: is not a string, and is compared with one");
    EXPECT_EQ(complaint_of("str(arg0) < \"a\""),
              "str(arg0): is a string: it is equal (==) or not (!=)");
    EXPECT_EQ(complaint_of("arg0 & 0"), "0: selects no bit");
    EXPECT_EQ(complaint_of("(arg0 == 1) == 2"),
              "(arg0 == 1): is a condition where a value is wanted");
    EXPECT_EQ(complaint_of("len(arg0) > 3"), "len: there is no function \"len\"");
    EXPECT_EQ(complaint_of("str(arg0) == \"a\\q\""), "\\q: is not an escape");
    EXPECT_EQ(complaint_of("str(arg0) == 'a"), "'a: has no end");
    EXPECT_EQ(complaint_of("arg0 # 3"), "#: is not understood here");
    EXPECT_EQ(complaint_of("arg0 ^ 3"), "^: is not an operator here");
    EXPECT_EQ(complaint_of("arg0[1"), ": a ] is missing");
    EXPECT_EQ(complaint_of("arg0[]"), "]: a value is missing");
    EXPECT_EQ(complaint_of("arg0 +"), ": a value is missing at the end");
    EXPECT_EQ(complaint_of("(u8)"), ": a value is missing at the end");
    EXPECT_EQ(complaint_of("(u8 *, arg0)"), ",: a value is missing");
}

TEST(Predicates, Limits) {
    std::string many;
    for (int i = 0; i < 9; ++i)
        many += (i ? " and arg0 != " : "arg0 != ") + std::to_string(i);
    EXPECT_EQ(complaint_of(many), "arg0: is one comparison too many");
    EXPECT_EQ(complaint_of("arg0 and arg1 and arg2 and arg3 and arg4 and arg5 and arg6 and arg7 "
                           "and arg8"),
              "arg8: is one value too many");
    const std::string product = "(arg0 or arg1) and (arg2 or arg3) and (arg4 or arg5) and "
                                "(arg6 or arg7)";
    EXPECT_EQ(complaint_of(product),
              product + ": has 16 alternatives when it is written out: 8 is the most");
    EXPECT_EQ(complaint_of("str(arg0) == 'a' and str(arg1) == 'a' and str(arg2) == 'a'"),
              "str(arg2): is one string too many");
    EXPECT_EQ(complaint_of("str(arg0) == 'a' or str(arg0) == 'b' or str(arg0) == 'c'"),
              "'c': is one string to compare with too many");
    EXPECT_THAT(complaint_of(std::string(2000, '(') + "arg0"), HasSubstr("nested too deeply"));
    EXPECT_THAT(complaint_of(std::string(4000, '*') + "arg0"), HasSubstr("nested too deeply"));
    EXPECT_THAT(complaint_of(std::string(5000, ' ')), HasSubstr("is too long"));
}

} // namespace
} // namespace auger
