// SPDX-License-Identifier: GPL-3.0-or-later
// golabel("KEY"): the label of the goroutine that a thread works for, and what may be asked of it.
#include "loader/probes/code_messages.h"
#include "tests/unit/loader_values_calls.h"
#include "tests/unit/loader_values_program.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace auger {
namespace {

using test::complaint;
using test::complaint_of;
using test::Machine;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* route = "golabel(\"route\")";

Machine labelled(std::map<std::string, std::string> labels) {
    Machine machine;
    machine.go_labels = std::move(labels);
    return machine;
}

std::string text(const std::string& expression, const Machine& machine) {
    const CallProgram program = test::compiled(test::shows({expression}));
    return format_values(program, machine.run(program.wire), {}).at(0).text;
}

TEST(GoLabelValues, AreTextOfTheirKey) {
    const Machine machine = labelled({{"route", "/quote"}, {"rout", "/wrong"}, {"routes", "no"}});
    EXPECT_EQ(text(route, machine), "\"/quote\"");
    EXPECT_EQ(text("golabel( 'rout' )", machine), "\"/wrong\"");
    EXPECT_EQ(text("golabel(\"Route\")", machine), "none");
    EXPECT_EQ(text(route, labelled({{"route", ""}})), "none");
    EXPECT_EQ(text(route, Machine()), "unreadable");
    const std::string key(24, 'k');
    EXPECT_EQ(text("golabel(\"" + key + "\")", labelled({{key, "longest"}})), "\"longest\"");
    EXPECT_EQ(text(route, labelled({{"route", std::string(70, 'x')}})),
              "\"" + std::string(63, 'x') + "\"...");
}

TEST(GoLabelValues, TwoKeysAreTwoValues) {
    const CallProgram program =
        test::compiled(test::shows({"golabel(\"a\")", "golabel(\"b\")", "golabel(\"a\")"}));
    EXPECT_EQ(program.wire.fetches, 2);
    const auto values =
        format_values(program, labelled({{"a", "1"}, {"b", "2"}}).run(program.wire), {});
    EXPECT_THAT(values, ElementsAre(CallValue{"golabel(\"a\")", "\"1\""},
                                    CallValue{"golabel(\"b\")", "\"2\""},
                                    CallValue{"golabel(\"a\")", "\"1\""}));
}

// A comparison of what cannot be read does not hold, and neither does its opposite.
TEST(GoLabelValues, Predicates) {
    const Machine quote = labelled({{"route", "/quote"}}), none = labelled({}), unreadable;
    const struct {
        std::string predicate;
        bool quote, none;
    } cases[] = {
        {"golabel(\"route\") == \"/quote\"", true, false},
        {"\"/quote\" == golabel(\"route\")", true, false},
        {"golabel(\"route\") != \"/quote\"", false, true},
        {"golabel(\"route\") == \"\"", false, true},
        {"golabel(\"route\")", true, false},
        {"not golabel(\"route\")", false, true},
        {"golabel(\"route\") == \"/quote\" and not golabel(\"tenant\")", true, false},
        {"golabel(\"route\") == \"/quot\"", false, false},
    };
    for (const auto& one : cases) {
        SCOPED_TRACE(one.predicate);
        EXPECT_EQ(test::holds_in(one.predicate, quote), one.quote);
        EXPECT_EQ(test::holds_in(one.predicate, none), one.none);
        EXPECT_FALSE(test::holds_in(one.predicate, unreadable));
    }
}

TEST(GoLabelValues, WhatCannotBeAskedSaysWhy) {
    EXPECT_EQ(complaint_of("golabel(route) == \"a\""), "route: a label's key is missing");
    EXPECT_EQ(complaint_of("golabel() == \"a\""), "): a label's key is missing");
    EXPECT_EQ(complaint_of("golabel(\"\") == \"a\""), "\"\": is no label's key");
    EXPECT_THAT(complaint_of("golabel(\"" + std::string(25, 'k') + "\") == \"a\""),
                HasSubstr("is too long for a label's key"));
    EXPECT_EQ(complaint_of("golabel(\"a\" == \"a\""), "==: a ) is missing");
    EXPECT_EQ(complaint_of("golabel(\"a\") < \"b\""),
              "golabel(\"a\"): is a string: it is equal (==) or not (!=)");
    EXPECT_EQ(complaint_of("golabel(\"a\") == 1"), "1: is not a string, and is compared with one");
    EXPECT_EQ(complaint_of("golabel(\"a\") + 1 == 2"),
              "golabel(\"a\"): is a string, not a number or pointer");
    EXPECT_NE(complaint_of("str(golabel(\"a\")) == \"b\""), "compiled");
    EXPECT_NE(complaint_of("golabel(\"a\")->b == 1"), "compiled");
    EXPECT_EQ(complaint_of("golabels(\"a\") == \"b\""),
              "golabels: there is no function \"golabels\"");
    // A parameter of the name stays one.
    EXPECT_THAT(complaint_of("golabel == 1"), testing::Not(HasSubstr("key")));
}

TEST(GoLabelValues, AreNoneOfATracepoint) {
    ValueScope scope{"tracepoint:sched:sched_switch"};
    scope.tracepoint = "name: sched_switch\nID: 1\nformat:\n"
                       "\tfield:int prio;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
    EXPECT_NE(complaint(compile_program(test::only_if(route), scope)), "compiled");
}

TEST(GoLabelValues, AreLabelsOfASplit) {
    const CallProgram program = test::compiled(test::split_by(route));
    std::string slot(WIRE_STRING, '\0');
    EXPECT_EQ(format_label(program, WIRE_LABEL_STRING, 0, slot), "none");
    slot.replace(0, 6, "/quote");
    EXPECT_EQ(format_label(program, WIRE_LABEL_STRING, 0, slot), "/quote");
    EXPECT_EQ(format_label(program, WIRE_LABEL_UNREADABLE, 0, ""), "unreadable");
}

// What a confined process says.
TEST(GoLabelValues, NonsenseIsNotBelieved) {
    const CallProgram sound = test::compiled(test::shows({route}));
    const auto is_believed = [](const CallProgram& program) {
        return code_messages::program(
                   code_messages::program(code_messages::Program(std::optional(program))))
            .has_value();
    };
    EXPECT_TRUE(is_believed(sound));
    for (const auto& spoil : std::initializer_list<void (*)(wire_fetch&)>{
             [](wire_fetch& fetch) { fetch.size = 0; },
             [](wire_fetch& fetch) { fetch.size = WIRE_GO_LABEL_KEY + 1; },
             [](wire_fetch& fetch) { fetch.flags = 0; },
             [](wire_fetch& fetch) { fetch.flags |= WIRE_FETCH_SIGNED; },
             [](wire_fetch& fetch) { fetch.flags |= WIRE_FETCH_IN_MEMORY; },
             [](wire_fetch& fetch) { fetch.base = WIRE_BASE_GO_LABEL + 1; }}) {
        CallProgram bad = sound;
        spoil(bad.wire.fetch[0]);
        EXPECT_FALSE(is_believed(bad));
    }
}

// Of a Go program it is known whether there are some.
TEST(GoLabelValues, OfAGoProgramThatSetsNoneAreRefused) {
    for (const auto& [name, answer] :
         {std::pair("golabels", "compiled"), std::pair("golabels_stripped", "compiled"),
          std::pair("goroutines", "nothing in the program sets")}) {
        const std::string path = std::string(AUGER_PROGRAMS_DIR "/") + name;
        if (!std::filesystem::exists(path))
            GTEST_SKIP() << "go is not installed (package golang-go)";
        ValueScope scope{"main.handle"};
        scope.file = *ElfFile::open(std::move(*open_regular(path)), path);
        EXPECT_THAT(complaint(compile_program(test::only_if(route), scope)), HasSubstr(answer));
    }
}

// There it is read when the call returns, on whatever thread that is; beside other values not.
TEST(GoLabelValues, OfAGoFunctionAreReadWhenItReturns) {
    const std::string path = AUGER_PROGRAMS_DIR "/golabels";
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << "go is not installed (package golang-go)";
    ValueScope scope{"main.handle"};
    scope.file = *ElfFile::open(std::move(*open_regular(path)), path);
    scope.address = scope.file->go_table()->named("main.handle")->begin;
    const CallProgram label = test::compiled(test::only_if(route), scope);
    EXPECT_TRUE(label.wire.fetch[0].flags & WIRE_FETCH_AT_END);
    EXPECT_TRUE(label.wire.predicate[WIRE_PREDICATE_ONLY].at_end);
    EXPECT_TRUE(is_read_at_return(label));
    EXPECT_FALSE(is_read_at_return(
        test::compiled(test::only_if(std::string(route) + " and arg0 == 1"), scope)));
    // What is not Go's there may be the point of a span, whose key is read when it is reached.
    scope.address = 0;
    const CallProgram elsewhere = test::compiled(test::only_if(route), scope);
    EXPECT_FALSE(elsewhere.wire.fetch[0].flags & WIRE_FETCH_AT_END);
    EXPECT_FALSE(is_read_at_return(elsewhere));
}

} // namespace
} // namespace auger
