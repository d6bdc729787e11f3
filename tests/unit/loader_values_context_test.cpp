// SPDX-License-Identifier: GPL-3.0-or-later
// `trace` and `span_id`: what the thread works for, and what may be asked of it.
#include "loader/probes/code_messages.h"
#include "tests/unit/loader_values_calls.h"
#include "tests/unit/loader_values_program.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using test::complaint;
using test::complaint_of;
using test::Machine;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* trace = "4bf92f3577b34da6a3ce929d0e0e4736";

Machine working(Machine::Context context = Machine::Context::present) {
    Machine machine;
    machine.context = context;
    machine.trace = trace;
    machine.span = 0x00f067aa0ba902b7;
    return machine;
}

std::vector<CallValue> texts(const ProgramRequest& request, const Machine& machine) {
    const CallProgram program = test::compiled(request);
    return format_values(program, machine.run(program.wire), {});
}

TEST(ContextValues, AreTheDigitsOfTheIds) {
    const ProgramRequest request = test::shows({"trace", "span_id"});
    EXPECT_THAT(texts(request, working()),
                ElementsAre(CallValue{"trace", trace}, CallValue{"span_id", "00f067aa0ba902b7"}));
    EXPECT_THAT(texts(request, working(Machine::Context::none)),
                ElementsAre(CallValue{"trace", "none"}, CallValue{"span_id", "none"}));
    EXPECT_THAT(texts(request, working(Machine::Context::unreadable)),
                ElementsAre(CallValue{"trace", "unreadable", false},
                            CallValue{"span_id", "unreadable", false}));
}

// As other numbers, a span's id may be cast and counted with.
TEST(ContextValues, ASpanIsANumber) {
    const ProgramRequest request = test::shows({"(u32)span_id", "span_id + 1", "span_id >> 40"});
    const auto shown = [&](const Machine& machine) {
        std::vector<std::string> all;
        for (const CallValue& value : texts(request, machine))
            all.push_back(value.text);
        return all;
    };
    EXPECT_THAT(shown(working()), ElementsAre("195625655", "67667974448284344", "61543"));
    EXPECT_THAT(shown(working(Machine::Context::none)), ElementsAre("0", "1", "0"));
    EXPECT_THAT(shown(working(Machine::Context::unreadable)),
                ElementsAre("unreadable", "unreadable", "unreadable"));
}

// A comparison of what cannot be read does not hold, and neither does its opposite.
TEST(ContextValues, Predicates) {
    const Machine present = working(), none = working(Machine::Context::none),
                  unreadable = working(Machine::Context::unreadable);
    const auto id = std::string("trace == \"") + trace + "\"";
    const struct {
        std::string predicate;
        bool present, none;
    } cases[] = {
        {"trace != 0", true, false},
        {"trace == 0", false, true},
        {"0 != trace", true, false},
        {"trace", true, false},
        {"not trace", false, true},
        {id, true, false},
        {"not (" + id + ")", false, true},
        {"trace == \"4BF92F3577B34DA6A3CE929D0E0E4736\"", true, false},
        {"trace == \"4bf92f3577b34da6a3ce929d0e0e4737\"", false, false},
        {"span_id", true, false},
        {"span_id == 0xf067aa0ba902b7", true, false},
        {"span_id & 1 and trace != 0", true, false},
    };
    for (const auto& one : cases) {
        SCOPED_TRACE(one.predicate);
        EXPECT_EQ(test::holds_in(one.predicate, present), one.present);
        EXPECT_EQ(test::holds_in(one.predicate, none), one.none);
        EXPECT_FALSE(test::holds_in(one.predicate, unreadable));
    }
}

TEST(ContextValues, WhatCannotBeAskedSaysWhy) {
    EXPECT_EQ(complaint_of("trace < 0"), "trace: is a trace id: it is equal (==) or not (!=)");
    for (const std::string& other :
         {std::string("\"4bf9\""), std::string("1"), std::string("arg0"),
          "\"" + std::string(32, '0') + "\"", "\"" + std::string(32, 'g') + "\""})
        EXPECT_EQ(complaint_of("trace == " + other),
                  other + ": is no trace id, and is compared with one");
    EXPECT_EQ(complaint_of("trace + 1 > 0"), "trace: is a trace id, of 32 digits");
    EXPECT_EQ(complaint_of("(u64)trace > 0"), "trace: is a trace id, of 32 digits");
    EXPECT_EQ(complaint_of("trace->id == 1"), "trace: has no members: it is a trace id");
    EXPECT_NE(complaint_of("str(trace) == \"a\""), "compiled");
    EXPECT_NE(complaint_of("*trace == 1"), "compiled");
    EXPECT_NE(complaint_of("&trace == 1"), "compiled");
    EXPECT_NE(complaint_of("traces == 1"), "compiled");
}

// A tracepoint may be hit by a thread that has nothing to do with what it is about.
TEST(ContextValues, AreNoneOfATracepoint) {
    ValueScope scope{"tracepoint:sched:sched_switch"};
    scope.tracepoint = "name: sched_switch\nID: 1\nformat:\n"
                       "\tfield:int prio;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
    EXPECT_NE(complaint(compile_program(test::only_if("trace != 0"), scope)), "compiled");
    EXPECT_NE(complaint(compile_program(test::only_if("span_id != 0"), scope)), "compiled");
}

TEST(ContextValues, AreLabelsOfASplit) {
    const CallProgram program = test::compiled(test::split_by("trace"));
    std::string slot(WIRE_STRING, '\0');
    EXPECT_EQ(format_label(program, WIRE_LABEL_STRING, 0, slot), "none");
    slot.replace(0, 32, trace);
    EXPECT_EQ(format_label(program, WIRE_LABEL_STRING, 0, slot), trace);
    EXPECT_EQ(format_label(program, WIRE_LABEL_UNREADABLE, 0, ""), "unreadable");
    EXPECT_EQ(format_label(test::compiled(test::split_by("span_id")), WIRE_LABEL_NUMBER, 0xab, ""),
              "00000000000000ab");
}

// Beside what is shown when nobody said what: only of calls that belong to a trace.
TEST(ContextValues, AreShownByThemselvesWhereThereMayBeSome) {
    ProgramRequest request;
    request.traces_slow = true;
    EXPECT_THAT(texts(request, working()), IsEmpty());
    request.shows_trace = true;
    EXPECT_THAT(texts(request, working()),
                ElementsAre(CallValue{"trace", trace}, CallValue{"span_id", "00f067aa0ba902b7"}));
    EXPECT_THAT(texts(request, working(Machine::Context::none)), IsEmpty());
    request.conditions.show = {"arg0"};
    EXPECT_THAT(texts(request, working()), ElementsAre(CallValue{"arg0", "0"}));
}

// What a function's own parameter is called stays that.
TEST(ContextValues, AParameterOfTheNameComesFirst) {
    const test::ValuesProgram program(AUGER_CONTEXT_DIR "/libcontext_gnu.so");
    const ValueScope scope = program.scope("traced");
    Machine machine = working();
    machine.at_entry[5] = 17;
    machine.at_entry[4] = 18;
    ProgramRequest request = test::shows({"trace", "span_id"});
    CallProgram compiled = test::compiled(request, scope);
    EXPECT_THAT(format_values(compiled, machine.run(compiled.wire), {}),
                ElementsAre(CallValue{"trace", "17"}, CallValue{"span_id", "18"}));
    request.conditions.show.clear();
    request.shows_trace = true;
    compiled = test::compiled(request, scope);
    EXPECT_FALSE(reads_context(compiled));
}

// What a confined process says is read at the call's beginning, and where it was asked for.
TEST(ContextValues, NonsenseIsNotBelieved) {
    const CallProgram sound = test::compiled(test::shows({"trace", "span_id"}));
    const auto is_believed = [](const CallProgram& program) {
        const auto said = code_messages::program(
            code_messages::program(code_messages::Program(std::optional(program))));
        return said.has_value();
    };
    EXPECT_TRUE(is_believed(sound));
    CallProgram bad = sound;
    bad.wire.fetch[1].number = WIRE_CONTEXT_PARTS;
    EXPECT_FALSE(is_believed(bad));
    bad = sound;
    bad.wire.fetch[0].flags = 0;
    EXPECT_FALSE(is_believed(bad));
    bad = sound;
    bad.wire.fetch[1].flags |= WIRE_FETCH_STRING;
    EXPECT_FALSE(is_believed(bad));
    bad = sound;
    bad.wire.fetch[1].flags |= WIRE_FETCH_AT_END;
    EXPECT_FALSE(is_believed(bad));
}

// Of spans, which have no other values.
TEST(ContextValues, MayBeAllThatIsShown) {
    const CallProgram program = context_program();
    EXPECT_TRUE(reads_context(program));
    EXPECT_THAT(format_values(program, working().run(program.wire), {}),
                ElementsAre(CallValue{"trace", trace}, CallValue{"span_id", "00f067aa0ba902b7"}));
    EXPECT_THAT(format_values(program, working(Machine::Context::none).run(program.wire), {}),
                IsEmpty());
    const auto said = code_messages::program(
        code_messages::program(code_messages::Program(std::optional(program))));
    EXPECT_TRUE(said.has_value());
}

TEST(ContextValues, WhatIsShownGoesThroughMessages) {
    ProgramRequest request;
    request.traces_slow = request.shows_trace = true;
    code_messages::Request asked;
    asked.kind = code_messages::Kind::compile;
    asked.program = request;
    const auto understood = code_messages::request(code_messages::request(asked));
    ASSERT_TRUE(understood);
    EXPECT_TRUE(understood->program.shows_trace);
    const auto said = code_messages::program(
        code_messages::program(code_messages::Program(std::optional(test::compiled(request)))));
    ASSERT_TRUE(said && *said && **said);
    ASSERT_EQ((**said)->shown.size(), 2u);
    EXPECT_TRUE((**said)->shown[0].if_any);
    EXPECT_EQ((**said)->formats.at(0).kind, ValueFormat::Kind::trace_id);
}

} // namespace
} // namespace auger
