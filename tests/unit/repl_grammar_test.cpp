// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of commands that several have in common: classes, listings, conditions.
#include "tests/unit/command_lines.h"

#include "repl/language/condition.h"
#include "repl/language/keep_condition.h"
#include "repl/language/listing.h"
#include "repl/language/sample_selection.h"
#include "repl/language/stack_arguments.h"
#include "views/spell.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What `parse` makes of the arguments in `text`, all of them.
template <typename Parse>
auto read(const std::string& text, Parse parse) {
    const std::string line = "command " + text;
    auto commands = lex(line);
    EXPECT_TRUE(commands) << line;
    Arguments arguments(commands->at(0).words, line, "usage");
    auto parsed = parse(arguments);
    EXPECT_TRUE(parsed) << line << ": " << parsed.complaint().message;
    EXPECT_TRUE(arguments.at_end()) << line;
    return std::move(*parsed);
}

ClassFilter filter_of(const std::string& text) {
    return read(text, parse_class);
}

Listing calls(const std::string& text) {
    return read(text, parse_call_listing);
}

SampleSelection selection(const std::string& text) {
    return read(text, [](Arguments& arguments) {
        return parse_sample_selection(arguments, [] { return Parsed<bool>(false); });
    });
}

KeepCondition keep(const std::string& text) {
    return read(text, parse_keep_condition);
}

Condition condition(const std::string& text) {
    return read(text, parse_condition);
}

TEST(Listings, ProbesClassesAndRows) {
    EXPECT_EQ(read("slow -n 10", parse_listing).limit, 10u);
    EXPECT_EQ(read("slow", parse_listing).filter.duration, CallClass::slow);
    EXPECT_EQ(calls("f -n 5").limit, 5u);
    EXPECT_FALSE(calls("").probe);
    EXPECT_EQ(calls("#3").probe->number, 3u);
    EXPECT_EQ(calls("2").probe->number, 2u);
    EXPECT_FALSE(calls("f2").probe->number);
    EXPECT_EQ(calls("slow+taken -n 3").filter.taken, true);
    EXPECT_FALSE(calls("slow+taken -n 3").probe);
    EXPECT_EQ(calls("handle slow").filter, CallClass::slow);
    EXPECT_EQ(calls("'slow'").probe->text, "slow");
    EXPECT_EQ(calls("..50ms").filter.range->to_ns, 50'000'000u);
    EXPECT_TRUE(calls("handle 5ms.. -n 3").filter.range->open_ended());
    EXPECT_EQ(calls("handle 5ms.. -n 3").limit, 3u);
}

TEST(Listings, StacksOfCalls) {
    std::optional<size_t> rows;
    const auto stack = [&](const std::string& text) {
        rows.reset();
        return read(text,
                    [&](Arguments& arguments) { return take_stack_arguments(arguments, rows); });
    };
    EXPECT_EQ(stack("").in_text().depth, 16u);
    EXPECT_EQ(stack("").in_json().depth, 0u);
    EXPECT_EQ(stack("").in_text().frames, FrameChoice::all);
    EXPECT_EQ(stack("--depth 40 --language").in_text().depth, 40u);
    EXPECT_EQ(stack("--depth 40 --language -n 3").in_json().depth, 40u);
    EXPECT_EQ(rows, 3u);
    EXPECT_EQ(stack("--depth all").in_text().depth, 0u);
    EXPECT_EQ(stack("--language").in_json().frames, FrameChoice::language);
    EXPECT_EQ(stack("-n 2 --native").in_text().frames, FrameChoice::native);
    EXPECT_EQ(rows, 2u);
    EXPECT_EQ(calls("handle").limit, std::nullopt);
}

TEST(Listings, SelectionsOfSamples) {
    EXPECT_EQ(selection("slow").filter, CallClass::slow);
    EXPECT_EQ(selection("all").filter, ClassFilter());
    EXPECT_EQ(selection("slow by comm under 'f(int, int)'").under, "f(int, int)");
    EXPECT_EQ(selection("by comm slow").filter, CallClass::slow);
    EXPECT_EQ(selection("slow").frames, FrameChoice::all);
    EXPECT_EQ(selection("--language slow").frames, FrameChoice::language);
    EXPECT_EQ(selection("slow --native by comm").frames, FrameChoice::native);
}

TEST(Classes, PartsAreJoined) {
    const auto filter = [](const std::string& text) { return to_string(filter_of(text)); };
    EXPECT_EQ(filter("slow"), "slow");
    EXPECT_EQ(filter("not-taken+slow"), "slow+not-taken");
    EXPECT_EQ(filter("=3"), "=3");
    EXPECT_EQ(filter("slow+taken+='a + b'"), "slow+taken+=a + b");
    EXPECT_EQ(filter("sl+not"), "slow+not-taken");
    EXPECT_EQ(filter_of("not-taken").taken, false);
    EXPECT_EQ(filter_of("slow+taken").taken, true);
    EXPECT_EQ(filter_of("=1").label, "1");
    EXPECT_THAT(wrong("flame slow+tkaen"), HasSubstr("12: \"tkaen\" is not a class (did you"));
    EXPECT_THAT(wrong("flame slow+fast"), HasSubstr("12: \"fast\" excludes"));
    EXPECT_EQ(filter_of("10ms..50ms").range, (DurationRange{10'000'000, 50'000'000}));
    EXPECT_EQ(filter("1.5ms..+taken"), "1.5ms..+taken");
    EXPECT_EQ(filter("slow+..2s"), "slow+..2s");
    EXPECT_EQ(filter("1ns..3us+=x..y"), "1ns..3us+=x..y");
    EXPECT_EQ(filter_of("10ms..").range->from_ns, 10'000'000u);
    EXPECT_THAT(wrong("diff 10ms.. ..11ms"), HasSubstr("6: a call can be in both"));
    EXPECT_THAT(wrong("flame slow+10ms..50"), HasSubstr("18: \"50\" has no unit"));
    EXPECT_THAT(wrong("calls 1..50ms"), HasSubstr("7: \"1\" has no unit"));
    EXPECT_THAT(wrong("calls 10ms..x"), HasSubstr("13: \"x\" is not a duration"));
    EXPECT_THAT(wrong("flame 50ms..10ms"), HasSubstr("7: no duration is in \"50ms..10ms\""));
    EXPECT_THAT(wrong("flame ..+slow"), HasSubstr("7: a range of durations needs a bound"));
    EXPECT_THAT(wrong("flame 1ms..+2ms.."), HasSubstr("13: \"2ms..\" excludes"));
    EXPECT_THAT(wrong("diff slow taken"), HasSubstr("6: a call can be in both of these"));
    EXPECT_THAT(wrong("diff outside+taken slow"), HasSubstr("only ended calls"));
}

// What is on a sample's stack.
TEST(Classes, AskForFunctions) {
    EXPECT_EQ(filter_of("in=py:app.handler").in, (StackChoice{"py:app.handler", false}));
    EXPECT_EQ(filter_of("in!='ns::f(int)'").in, (StackChoice{"ns::f(int)", true}));
    EXPECT_EQ(to_string(filter_of("slow+in=parse+=3")), "slow+in=parse+=3");
    EXPECT_EQ(to_string(filter_of("in!=parse+host=web1")), "host=web1+in!=parse");
    EXPECT_FALSE(filter_of("in=parse").of_calls());
    EXPECT_FALSE(filter_of("in=parse").all());
    EXPECT_EQ(calls("recv in=parse").filter.in->function, "parse");
    EXPECT_TRUE(filter_of("in=parse").excludes(filter_of("in!=parse")));
    EXPECT_FALSE(filter_of("in=parse").excludes(filter_of("in=work")));
    for (const char* text : {"slow+in=parse", "in!=py:app.handler", "in='f(int) +'", "in=a+='b c'"})
        EXPECT_EQ(filter_of(spell_class(filter_of(text))), filter_of(text)) << text;
    EXPECT_EQ(filter_of("in=operator+").in->function, "operator+");
    EXPECT_EQ(filter_of("slow+in=operator+=").in->function, "operator+=");
    EXPECT_EQ(filter_of("in='operator+(A, B)'+=3").label, "3");
    EXPECT_THAT(wrong("flame in="), HasSubstr("7: a function's name is missing"));
    EXPECT_THAT(wrong("flame in=a+in!=b"), HasSubstr("12: a class asks for one function"));
    EXPECT_THAT(wrong("diff in=a in!=a"), HasSubstr("6: calls are compared, and a call has many"));
    EXPECT_THAT(wrong("diff slow fast+in=a"), HasSubstr("11: calls are compared"));
    EXPECT_THAT(wrong("split in py:app.handler"),
                HasSubstr("10: what is on a sample's stack needs no split (\"flame "
                          "in=py:app.handler\""));
}

TEST(KeepConditions, Parentheses) {
    const KeepCondition glued = keep("(comm a or comm b)and not(in ns::f(int, char))");
    ASSERT_EQ(glued.gate.terms.size(), 3u);
    EXPECT_EQ(glued.gate.terms[0].text, "a");
    EXPECT_EQ(glued.gate.terms[1].text, "b");
    EXPECT_EQ(glued.probes[2]->text, "ns::f(int, char)");
    EXPECT_THAT(glued.gate.clauses, ElementsAre(Clause{{0}, {2}}, Clause{{1}, {2}}));
    EXPECT_EQ(glued.text, "(comm a or comm b)and not(in ns::f(int, char))");

    const KeepCondition call = keep("handle > p95 and tid 5");
    EXPECT_EQ(call.gate.terms[0].older.percentile, 95);
    EXPECT_EQ(call.gate.terms[1].number, 5u);
    EXPECT_EQ(keep("handle >5ms").gate.terms[0].older.fixed_ns, 5'000'000u);
    EXPECT_EQ(keep("in #2").probes[0]->number, 2u);
    EXPECT_EQ(keep("comm 'a b'").gate.terms[0].text, "a b");
    EXPECT_EQ(keep("in std::map<a, b>::at").probes[0]->text, "std::map<a, b>::at");
    // A probe may be called like a kind of term.
    EXPECT_EQ(keep("pid > 5ms").probes[0]->text, "pid");
}

TEST(KeepConditions, NormalForm) {
    const auto clauses = [](const std::string& text) { return keep(text).gate.clauses; };
    EXPECT_THAT(clauses("not (comm a and comm b)"), ElementsAre(Clause{{}, {0}}, Clause{{}, {1}}));
    EXPECT_THAT(clauses("not not comm a"), ElementsAre(Clause{{0}, {}}));
    // What holds only when something else does adds nothing; the same term is one.
    EXPECT_THAT(clauses("comm a or comm a and pid 5"), ElementsAre(Clause{{0}, {}}));
    EXPECT_THAT(clauses("comm a and (not comm a or pid 5)"), ElementsAre(Clause{{0, 1}, {}}));
    EXPECT_THAT(clauses("(comm a or comm b) and (pid 1 or pid 2)").size(), 4u);
    EXPECT_THAT(wrong("only comm a and not comm a"), HasSubstr("6: this can never hold"));
    EXPECT_THAT(wrong("only (comm a or comm b) and (pid 1 or pid 2) and (tid 1 or tid 2 or tid 3)"),
                HasSubstr("12 alternatives, and at most 8"));
    EXPECT_THAT(wrong("only pid 1 or pid 2 or pid 3 or pid 4 or pid 5 or pid 6 or pid 7 or pid 8 "
                      "or pid 9"),
                HasSubstr("78: this is one too many: at most 8 different terms"));
}

TEST(KeepConditions, LinesStandBesideTheRest) {
    const KeepCondition both = keep("comm a and (at x.c:3 or not at y.c:4) and pid 5");
    EXPECT_THAT(both.lines, ElementsAre("x.c:3", "y.c:4"));
    EXPECT_THAT(both.line_clauses, ElementsAre(Clause{{0}, {}}, Clause{{}, {1}}));
    EXPECT_THAT(both.gate.clauses, ElementsAre(Clause{{0, 1}, {}}));
    EXPECT_TRUE(keep("at x.c:3").gate.empty());
    // A `not` over both is an `or` of opposites; over an `or` it is an `and`.
    EXPECT_THAT(keep("not (comm a or at x.c:3)").line_clauses, ElementsAre(Clause{{}, {0}}));
    EXPECT_THAT(wrong("only comm a or at x.c:3"),
                HasSubstr("16: a line is known only when the call ends, so it can be joined with "
                          "other conditions by \"and\" only"));
    EXPECT_THAT(wrong("only not (at x.c:3 and comm a)"), HasSubstr("11: a line is known only"));
}

TEST(KeepConditions, StacksStandBesideTheRest) {
    const KeepCondition all = keep("in handle and at x.c:3 and (in py:app.get or not in js:log)");
    EXPECT_THAT(all.stacks.functions, ElementsAre("py:app.get", "js:log"));
    EXPECT_THAT(all.stacks.clauses, ElementsAre(Clause{{0}, {}}, Clause{{}, {1}}));
    EXPECT_THAT(all.lines, ElementsAre("x.c:3"));
    EXPECT_THAT(all.line_clauses, ElementsAre(Clause{{0}, {}}));
    EXPECT_EQ(all.gate.terms.size(), 1u);
    EXPECT_TRUE(keep("in java:Orders.place").gate.empty());
    // Of no language: probes.
    EXPECT_TRUE(keep("in std::sort and in libc:recv").stacks.empty());
    EXPECT_THAT(wrong("only comm a or in py:f"),
                HasSubstr("16: what is on a stack is known only when it has names"));
    EXPECT_THAT(wrong("only at x.c:3 or in py:f"), HasSubstr("6: a line is known only"));
    EXPECT_THAT(wrong("sample 99 only comm a and in py:f"),
                HasSubstr("27: what is on a stack is known only when it has names: too late"));
}

TEST(Conditions, Quantities) {
    EXPECT_EQ(condition("p99 f < 5ms").value, 5e6);
    EXPECT_EQ(condition("p99.9 f < 5ms").quantity.percentile, 99.9);
    EXPECT_EQ(condition("count f >= 1000").quantity.kind, Quantity::Kind::calls);
    EXPECT_EQ(condition("lost == 0").quantity.kind, Quantity::Kind::lost);
    EXPECT_EQ(condition("lost 'ring full' == 0").quantity.text, "ring full");
    EXPECT_EQ(condition("share slow parse > 50%").quantity.filter, CallClass::slow);
    EXPECT_EQ(condition("share parse > 50%").quantity.filter, ClassFilter());
    EXPECT_EQ(condition("samples open > 0").quantity.filter, CallClass::open);
    EXPECT_EQ(condition("samples slow+not-taken > 0").quantity.filter.taken, false);
    EXPECT_EQ(condition("samples =3 >= 10").quantity.filter.label, "3");
    EXPECT_EQ(condition("not-taken f == 5").quantity.kind, Quantity::Kind::not_taken);
    EXPECT_EQ(condition("taken f == 5").quantity.probe->text, "f");
    EXPECT_EQ(condition("filtered f == 5").quantity.kind, Quantity::Kind::filtered);
    EXPECT_EQ(condition("gated > 5").quantity.kind, Quantity::Kind::gated);
    EXPECT_EQ(condition("exited").quantity.kind, Quantity::Kind::exited);
    EXPECT_EQ(condition("p99   f < 5ms").spelled, "p99   f < 5ms");
    EXPECT_THAT(wrong("assert p99 f < 5"), HasSubstr("16: \"5\" has no unit"));
    EXPECT_THAT(wrong("assert calls f < 5ms"), HasSubstr("18: \"5ms\" is not a count"));
    EXPECT_THAT(wrong("assert share parse > 50"), HasSubstr("22: \"50\" is not a percentage"));
    EXPECT_THAT(wrong("assert lost = 0"), HasSubstr("13: \"=\" is not a comparison (write ==)"));
    EXPECT_THAT(wrong("assert p99 < 5ms"), HasSubstr("12: \"p99\" of which probe?"));
    EXPECT_THAT(wrong("assert cals f > 1"), HasSubstr("did you mean \"calls\"?"));
    EXPECT_THAT(wrong("assert"), HasSubstr("7: a quantity"));
    EXPECT_THAT(wrong("assert lost == 0 x"), HasSubstr("18: \"x\" is too much"));
}

TEST(Conditions, Comparisons) {
    const auto holds = [](const std::string& text, double actual) {
        return condition("samples " + text).holds(actual);
    };
    EXPECT_TRUE(holds("< 5", 4));
    EXPECT_FALSE(holds("< 5", 5));
    EXPECT_TRUE(holds("<= 5", 5));
    EXPECT_TRUE(holds("> 5", 6));
    EXPECT_FALSE(holds("> 5", 5));
    EXPECT_TRUE(holds(">= 5", 5));
    EXPECT_TRUE(holds("== 5", 5));
    EXPECT_TRUE(holds("!= 5", 4));
    EXPECT_FALSE(holds("!= 5", 5));
}

} // namespace
} // namespace auger
