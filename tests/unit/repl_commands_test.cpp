// SPDX-License-Identifier: GPL-3.0-or-later
// The table: every command parses as its examples say, abbreviations, help, completion.
#include "repl/commands/completion.h"
#include "repl/commands/table.h"

#include <gmock/gmock.h>

#include <set>

namespace auger {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Parsed<Command> parse(const std::string& line) {
    auto commands = commands_of(line);
    if (!commands)
        return commands.complaint();
    auto parsed = parse_command(commands->at(0), line);
    if (!parsed)
        return parsed.complaint();
    return std::move(parsed->command);
}

template <typename T>
T parsed(const std::string& line) {
    auto command = parse(line);
    if (!command || !std::holds_alternative<T>(*command)) {
        ADD_FAILURE() << line << ": "
                      << (command ? "another command" : command.complaint().message);
        return {};
    }
    return std::get<T>(*command);
}

// "column: message (hint)" of what is wrong.
std::string wrong(const std::string& line) {
    auto command = parse(line);
    if (command)
        return "fine";
    const Complaint& complaint = command.complaint();
    EXPECT_LE(complaint.at.offset, line.size());
    EXPECT_EQ(complaint.kind, Error::Kind::usage);
    return std::to_string(complaint.at.offset + 1) + ": " + complaint.message +
           (complaint.hint.empty() ? "" : " (" + complaint.hint + ")");
}

TEST(Table, EveryExampleParsesAsItsOwnCommand) {
    for (const CommandRow& row : command_table()) {
        std::string_view rest = row.examples;
        while (!rest.empty()) {
            const std::string line(rest.substr(0, rest.find('\n')));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            auto commands = commands_of(line);
            ASSERT_TRUE(commands) << line;
            auto command = parse_command(commands->at(0), line);
            ASSERT_TRUE(command) << line << ": " << command.complaint().message;
            EXPECT_EQ(command->row, &row) << line;
        }
    }
}

TEST(Table, HelpNamesEveryCommand) {
    const std::string all = help_text();
    for (const CommandRow& row : command_table()) {
        EXPECT_THAT(all, HasSubstr("  " + std::string(row.name) + " "));
        const std::string own = help_text(row);
        EXPECT_THAT(own, HasSubstr(std::string(row.usage)));
        EXPECT_FALSE(row.summary.empty()) << row.name;
        EXPECT_FALSE(row.arguments.empty()) << row.name;
        EXPECT_TRUE(row.usage.starts_with(row.name)) << row.name;
    }
}

TEST(Table, NamesAndLettersAreUnique) {
    std::set<std::string_view> names;
    for (const CommandRow& row : command_table()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        if (!row.letter.empty()) {
            EXPECT_TRUE(names.insert(row.letter).second) << row.letter;
        }
    }
}

TEST(Table, Abbreviations) {
    parsed<SplitCommand>("sp f > p95");
    parsed<FlameCommand>("f");
    parsed<WaitCommand>("w 5s");
    parsed<HelpCommand>("h");
    parsed<QuitCommand>("q");
    EXPECT_EQ(wrong("t f"),
              "1: \"t\" is ambiguous (one of: target, time, threshold, top, threads)");
    EXPECT_EQ(wrong("splt f"), "1: there is no command \"splt\" (did you mean \"split\"?)");
    EXPECT_EQ(wrong("zzz"), "1: there is no command \"zzz\" (\"help\" lists the commands)");
    EXPECT_EQ(wrong("''"), "1: there is no command \"\" (\"help\" lists the commands)");
}

TEST(TargetCommand, Forms) {
    EXPECT_FALSE(parsed<TargetCommand>("target").spec);
    EXPECT_THAT(parsed<TargetCommand>("target 12 34,56").spec->pids, ElementsAre(12, 34, 56));
    EXPECT_THAT(parsed<TargetCommand>("target -p 12").spec->pids, ElementsAre(12));
    EXPECT_EQ(parsed<TargetCommand>("target nginx").spec->name, "nginx");
    EXPECT_EQ(parsed<TargetCommand>("target -n 12").spec->name, "12");
    EXPECT_EQ(parsed<TargetCommand>("target -n nginx").spec->user, "");
    EXPECT_EQ(parsed<TargetCommand>("target -n nginx user www-data").spec->user, "www-data");
    const auto both = parsed<TargetCommand>("target -n nginx cgroup web-1 user 33");
    EXPECT_EQ(both.spec->cgroup, "web-1");
    EXPECT_EQ(both.spec->user, "33");
    EXPECT_EQ(parsed<TargetCommand>("target -a").spec->kind, TargetSpec::Kind::all);
    EXPECT_EQ(parsed<TargetCommand>("target off").spec->kind, TargetSpec::Kind::none);
    EXPECT_THAT(parsed<TargetCommand>("target -- ./a -p 5 'x y'").spec->command,
                ElementsAre("./a", "-p", "5", "x y"));
    EXPECT_EQ(wrong("target 1,x"), "fine"); // a name with a comma is unusual, but a name
    EXPECT_THAT(wrong("target -p 1,x"), HasSubstr("11: \"x\" is no pid"));
    EXPECT_THAT(wrong("target 0"), HasSubstr("8: \"0\" is no pid"));
    EXPECT_THAT(wrong("target 99999999999"), HasSubstr("is no pid"));
    EXPECT_THAT(wrong("target --"), HasSubstr("a command is missing"));
    EXPECT_THAT(wrong("target -x"), HasSubstr("no option"));
    EXPECT_THAT(wrong("target a b"), HasSubstr("10: \"b\" is too much here"));
}

TEST(FilterCommand, Forms) {
    EXPECT_EQ(parsed<FilterCommand>("filter").kind, FilterCommand::Kind::show);
    EXPECT_EQ(parsed<FilterCommand>("filter off").kind, FilterCommand::Kind::off);
    EXPECT_THAT(parsed<FilterCommand>("filter tid 5 6,7").values.tids, ElementsAre(5, 6, 7));
    EXPECT_THAT(parsed<FilterCommand>("filter comm a 'b c'").values.comms, ElementsAre("a", "b c"));
    EXPECT_TRUE(parsed<FilterCommand>("filter comm off").values.comms.empty());
    EXPECT_THAT(parsed<FilterCommand>("filter cgroup a/b").values.cgroups, ElementsAre("a/b"));
    EXPECT_THAT(wrong("filter comm a-name-of-16-byte"),
                HasSubstr("did you mean \"a-name-of-16-by\"?"));
    EXPECT_THAT(wrong("filter pid"), HasSubstr("11: a pid is missing here"));
    EXPECT_THAT(wrong("filter cmm x"), HasSubstr("did you mean \"comm\"?"));
}

TEST(ExitCommand, QuitsOrChoosesTheWayOut) {
    parsed<QuitCommand>("exit");
    EXPECT_EQ(parsed<WayOutCommand>("exit ret").way_out, WayOut::ret);
    EXPECT_EQ(parsed<WayOutCommand>("exit tramp").way_out, WayOut::trampoline);
    EXPECT_EQ(wrong("exit rte"), "6: \"rte\" is not a way out (did you mean \"ret\"?)");
}

TEST(SampleCommand, Rates) {
    using Settings = SamplingSettings;
    EXPECT_EQ(parsed<SampleCommand>("sample").sampling, (Settings{999, false}));
    EXPECT_FALSE(parsed<SampleCommand>("sample").only);
    EXPECT_EQ(parsed<SampleCommand>("sample 49,999").sampling, (Settings{49'999, false}));
    EXPECT_EQ(parsed<SampleCommand>("sample 99 Hz").sampling, (Settings{99, false}));
    EXPECT_EQ(parsed<SampleCommand>("sample wall").sampling, (Settings{999, true}));
    EXPECT_EQ(parsed<SampleCommand>("sample wall 199").sampling, (Settings{199, true}));
    const Settings wakers = parsed<SampleCommand>("sample wall wakers 199").sampling;
    EXPECT_TRUE(wakers.wall && wakers.wakers && wakers.rate_hz == 199);
    EXPECT_FALSE(parsed<SampleCommand>("sample wall").sampling.wakers);
    EXPECT_THAT(wrong("sample wakers"), HasSubstr("sample wall wakers"));
    EXPECT_EQ(parsed<SampleCommand>("sample off").sampling, Settings{});
    EXPECT_THAT(wrong("sample 0"), HasSubstr("sample off"));
    EXPECT_THAT(wrong("sample 50000"), HasSubstr("from 1 to 49,999"));
}

TEST(WindowCommands, Spans) {
    EXPECT_EQ(parsed<WindowCommand>("window 10s").window,
              (Window{Window::Kind::last, 10'000'000'000}));
    EXPECT_EQ(parsed<WindowCommand>("window all").window, Window{});
    EXPECT_EQ(parsed<WindowCommand>("ewma 10s").window,
              (Window{Window::Kind::ewma, 10'000'000'000}));
    EXPECT_EQ(parsed<WindowCommand>("ewma off").window, Window{});
    EXPECT_FALSE(parsed<WindowCommand>("window").window);
    EXPECT_THAT(wrong("window 10"), HasSubstr("10s"));
    EXPECT_THAT(wrong("window 0s"), HasSubstr("window all"));
    EXPECT_FALSE(parsed<WindowCommand>("window 10s").until_ns);
    EXPECT_EQ(parsed<WindowCommand>("window 5s until 17.5s").until_ns, 17'500'000'000);
    EXPECT_EQ(parsed<WindowCommand>("ewma 5s until 17.5s").window->kind, Window::Kind::ewma);
    EXPECT_EQ(parsed<WindowCommand>("window until 2m").window, Window{});
    EXPECT_EQ(wrong("window 5s until"),
              "16: a time since observation began is missing here (usage: "
              "window [DURATION | all] [until TIME])");
    EXPECT_THAT(wrong("window 5s until 17"), HasSubstr("17: \"17\" has no unit"));
    EXPECT_THAT(wrong("window 5s until 0s"), HasSubstr("17: nothing was observed before 0"));
    EXPECT_THAT(wrong("window 5s util 7s"), HasSubstr("11: \"util\" is too much"));
}

TEST(ProbeCommands, ProbesAndThresholds) {
    EXPECT_EQ(parsed<TimeCommand>("time ns::f(int, char)").probe.text, "ns::f(int, char)");
    EXPECT_EQ(parsed<TimeCommand>("time #2").probe.number, 2u);
    EXPECT_EQ(parsed<TimeCommand>("time 2").probe.number, 2u);
    EXPECT_FALSE(parsed<TimeCommand>("time f2").probe.number);
    EXPECT_EQ(parsed<SlowCommand>("slow f > 5ms").threshold.fixed_ns, 5'000'000u);
    EXPECT_EQ(parsed<SlowCommand>("slow f off").threshold.kind, Threshold::Kind::none);
    EXPECT_EQ(parsed<SplitCommand>("split f >p95").threshold->percentile, 95);
    EXPECT_TRUE(parsed<SplitCommand>("split f > 10ms so-far").so_far);
    EXPECT_FALSE(parsed<SplitCommand>("split f > 10ms").so_far);
    EXPECT_EQ(parsed<ThresholdCommand>("threshold f p99").threshold.percentile, 99);
    EXPECT_EQ(parsed<DeleteCommand>("delete 1 f").probes.size(), 2u);
    parsed<UnsplitCommand>("unsplit");
    parsed<UnsplitCommand>("split off");
    EXPECT_THAT(wrong("time"), HasSubstr("5: a probe is missing here"));
    EXPECT_THAT(wrong("split f>p95"),
                HasSubstr("7: blanks are missing around \">\" (write f > p95)"));
    EXPECT_THAT(wrong("split > p95"), HasSubstr("7: a probe is missing before this"));
    EXPECT_THAT(wrong("split f < p95"), HasSubstr("9: slow calls are those above"));
    EXPECT_THAT(wrong("split f >"), HasSubstr("10: a threshold (p95, 5ms) is missing here"));
    EXPECT_THAT(wrong("split f > p95 sofar"), HasSubstr("15: \"sofar\" is too much here"));
}

TEST(ViewCommands, ClassesAndRows) {
    EXPECT_EQ(parsed<FlameCommand>("flame slow").query.filter, CallClass::slow);
    EXPECT_EQ(parsed<FlameCommand>("flame all").query.filter, ClassFilter());
    EXPECT_TRUE(parsed<FlameCommand>("flame --folded open").folded);
    EXPECT_EQ(parsed<FlameCommand>("flame slow by comm under 'f(int, int)'").query.under,
              "f(int, int)");
    EXPECT_EQ(parsed<TopCommand>("top slow -n 10").limit, 10u);
    EXPECT_EQ(parsed<ThreadsCommand>("threads slow -n 10").limit, 10u);
    EXPECT_EQ(parsed<ThreadsCommand>("threads slow").filter.duration, CallClass::slow);
    EXPECT_EQ(parsed<DiffCommand>("diff fast slow").first, CallClass::fast);
    EXPECT_EQ(parsed<DiffCommand>("diff").second, CallClass::fast);
    EXPECT_EQ(parsed<CallsCommand>("calls f -n 5").limit, 5u);
    EXPECT_FALSE(parsed<CallsCommand>("calls").probe);
    EXPECT_EQ(parsed<HistCommand>("hist #3").probe.number, 3u);
    parsed<ProbesCommand>("probes");
    parsed<StatusCommand>("status");
    EXPECT_EQ(wrong("flame slw"), "7: \"slw\" is not a class (did you mean \"slow\"?)");
    EXPECT_THAT(wrong("flame --svg"), HasSubstr("7: there is no option"));
    EXPECT_THAT(wrong("flame slow fast"), HasSubstr("12: \"fast\" is too much"));
    EXPECT_THAT(wrong("diff slow open"), HasSubstr("11: only ended calls"));
    EXPECT_THAT(wrong("diff slow slow"), HasSubstr("with itself"));
    EXPECT_THAT(wrong("top -n 0"), HasSubstr("0 rows"));
}

TEST(SplitCommand, PartsInAnyCombination) {
    const auto split = [](const std::string& text) {
        return parsed<SplitCommand>("split " + text);
    };
    EXPECT_EQ(split("f at main.cc:12").branch, "at main.cc:12");
    EXPECT_FALSE(split("f at main.cc:12").threshold);
    EXPECT_FALSE(split("at main.cc:12").probe);
    EXPECT_EQ(split("if arg2 > 4096 and not (ret < 0)").branch, "if arg2 > 4096 and not (ret < 0)");
    EXPECT_EQ(split("f by arg1").label, "arg1");
    const SplitCommand all = split("f > p95 so-far by str(arg1) if arg0 == \"a by b\"");
    EXPECT_EQ(all.threshold->percentile, 95);
    EXPECT_TRUE(all.so_far);
    EXPECT_EQ(all.label, "str(arg1)");
    EXPECT_EQ(all.branch, "if arg0 == \"a by b\"");
    // Where '<' and '>' stick to words, what the lexer joins is still the text as typed.
    EXPECT_EQ(split("f if arg0<4 and arg1>3 by arg2").branch, "if arg0<4 and arg1>3");
    // A function may be called like a keyword.
    EXPECT_EQ(split("at > p95").probe->text, "at");
    EXPECT_EQ(wrong("split f at main.cc"),
              "12: \"main.cc\" is no line (write FILE:LINE, as in main.cc:1290)");
    EXPECT_THAT(wrong("split f at main.cc:0"), HasSubstr("12: \"main.cc:0\" is no line"));
    EXPECT_THAT(wrong("split f at"), HasSubstr("11: something is missing after \"at\""));
    EXPECT_THAT(wrong("split f at a.c:1 if arg0 > 1"), HasSubstr("21: a split has one branch"));
    EXPECT_THAT(wrong("split f at a.c:1 at a.c:2"), HasSubstr("18: there is another \"at\""));
    EXPECT_THAT(wrong("split f > p95 at a.c:1 if"), HasSubstr("26: something is missing"));
    EXPECT_THAT(wrong("split f if arg2 >"), HasSubstr(": "));
    EXPECT_THAT(wrong("split f if (arg2 > 4"), HasSubstr("21: "));
}

TEST(SlowCommand, PredicatesAndValues) {
    const auto slow = [](const std::string& text) { return parsed<SlowCommand>("slow " + text); };
    EXPECT_TRUE(slow("f > 1ms").show_default);
    EXPECT_EQ(slow("f > 1ms if ret < 0").slow_if, "ret < 0");
    const SlowCommand all = slow("f > 1ms if ret < 0 show arg0,  str(arg1) ,errno");
    EXPECT_EQ(all.slow_if, "ret < 0");
    EXPECT_THAT(all.show, ElementsAre("arg0", "str(arg1)", "errno"));
    EXPECT_FALSE(all.show_default);
    EXPECT_TRUE(slow("f > 1ms show off").show.empty());
    EXPECT_FALSE(slow("f > 1ms show off").show_default);
    EXPECT_EQ(wrong("slow f > 1ms show arg0,,arg1"), "24: an expression is missing here");
    EXPECT_THAT(wrong("slow f > 1ms show arg0, str("), HasSubstr(": "));
    EXPECT_THAT(wrong("slow f > 1ms when ret < 0"), HasSubstr("14: \"when\" is too much"));
    // The place of a mistake is that within the predicate.
    EXPECT_THAT(wrong("slow f > 1ms if ret < 0 and"), Not(HasSubstr("17: ")));
}

TEST(OnlyCommand, FormsAndParentheses) {
    const auto only = [](const std::string& text) { return parsed<OnlyCommand>("only " + text); };
    EXPECT_EQ(parsed<OnlyCommand>("only").kind, OnlyCommand::Kind::show);
    EXPECT_EQ(only("off").kind, OnlyCommand::Kind::off);
    EXPECT_EQ(only("recv if ret < 0").only_if, "ret < 0");
    EXPECT_EQ(only("recv if off").only_if, "");
    EXPECT_EQ(only("recv if off").kind, OnlyCommand::Kind::calls);

    const KeepCondition glued = only("(comm a or comm b)and not(in ns::f(int, char))").condition;
    ASSERT_EQ(glued.gate.terms.size(), 3u);
    EXPECT_EQ(glued.gate.terms[0].text, "a");
    EXPECT_EQ(glued.gate.terms[1].text, "b");
    EXPECT_EQ(glued.probes[2]->text, "ns::f(int, char)");
    EXPECT_THAT(glued.gate.clauses, ElementsAre(Clause{{0}, {2}}, Clause{{1}, {2}}));
    EXPECT_EQ(glued.text, "(comm a or comm b)and not(in ns::f(int, char))");

    const KeepCondition call = only("handle > p95 and tid 5").condition;
    EXPECT_EQ(call.gate.terms[0].older.percentile, 95);
    EXPECT_EQ(call.gate.terms[1].number, 5u);
    EXPECT_EQ(only("handle >5ms").condition.gate.terms[0].older.fixed_ns, 5'000'000u);
    EXPECT_EQ(only("in #2").condition.probes[0]->number, 2u);
    EXPECT_EQ(only("comm 'a b'").condition.gate.terms[0].text, "a b");
    EXPECT_EQ(only("in std::map<a, b>::at").condition.probes[0]->text, "std::map<a, b>::at");
    // A probe may be called like a kind of term.
    EXPECT_EQ(only("pid > 5ms").condition.probes[0]->text, "pid");
}

TEST(OnlyCommand, NormalForm) {
    const auto clauses = [](const std::string& text) {
        return parsed<OnlyCommand>("only " + text).condition.gate.clauses;
    };
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

TEST(OnlyCommand, LinesStandBesideTheRest) {
    const auto only = [](const std::string& text) {
        return parsed<OnlyCommand>("only " + text).condition;
    };
    const KeepCondition both = only("comm a and (at x.c:3 or not at y.c:4) and pid 5");
    EXPECT_THAT(both.lines, ElementsAre("x.c:3", "y.c:4"));
    EXPECT_THAT(both.line_clauses, ElementsAre(Clause{{0}, {}}, Clause{{}, {1}}));
    EXPECT_THAT(both.gate.clauses, ElementsAre(Clause{{0, 1}, {}}));
    EXPECT_TRUE(only("at x.c:3").gate.empty());
    // A `not` over both is an `or` of opposites; over an `or` it is an `and`.
    EXPECT_THAT(only("not (comm a or at x.c:3)").line_clauses, ElementsAre(Clause{{}, {0}}));
    EXPECT_THAT(wrong("only comm a or at x.c:3"),
                HasSubstr("16: a line is known only when the call ends, so it can be joined with "
                          "other conditions by \"and\" only"));
    EXPECT_THAT(wrong("only not (at x.c:3 and comm a)"), HasSubstr("11: a line is known only"));
}

TEST(OnlyCommand, MistakesHaveTheirPlace) {
    EXPECT_THAT(wrong("only comm a comm b"),
                HasSubstr("13: \"and\" or \"or\" is missing before \"comm\""));
    EXPECT_THAT(wrong("only (comm a"), HasSubstr("6: this \"(\" is not closed"));
    EXPECT_THAT(wrong("only comm a)"), HasSubstr("12: no \"(\" belongs to this"));
    EXPECT_THAT(wrong("only comm a and"), HasSubstr("16: a condition is missing here"));
    EXPECT_THAT(wrong("only handle"), HasSubstr("6: \"handle\" alone is no condition (write in "
                                                "handle, or handle > p95)"));
    EXPECT_THAT(wrong("only handle < p95"), HasSubstr("13: calls are kept beyond a threshold"));
    EXPECT_THAT(wrong("only handle > 5"), HasSubstr("15: \"5\" has no unit"));
    EXPECT_THAT(wrong("only tid x"), HasSubstr("10: \"x\" is no tid"));
    EXPECT_THAT(wrong("only comm a-name-of-16-byte"), HasSubstr("did you mean"));
    EXPECT_THAT(wrong("only (comm a or) and pid 1"),
                HasSubstr("16: a condition is missing before"));
    EXPECT_THAT(wrong("only " + std::string(200, '(')), HasSubstr("nested too deep"));
}

TEST(SampleCommand, RaisedRates) {
    const auto sample = parsed<SampleCommand>("sample wall 4999 Hz only handle > p95");
    EXPECT_EQ(sample.sampling.rate_hz, 4999u);
    EXPECT_TRUE(sample.sampling.wall);
    ASSERT_TRUE(sample.only);
    EXPECT_EQ(sample.only->text, "handle > p95");
    EXPECT_THAT(wrong("sample 4999 only comm a and at x.c:3"),
                HasSubstr("29: a line is known only when the call ends"));
    EXPECT_THAT(wrong("sample 4999 only"), HasSubstr("17: a condition is missing here"));
}

TEST(Classes, PartsAreJoined) {
    const auto filter = [](const std::string& text) {
        return to_string(parsed<FlameCommand>("flame " + text).query.filter);
    };
    EXPECT_EQ(filter("slow"), "slow");
    EXPECT_EQ(filter("not-taken+slow"), "slow+not-taken");
    EXPECT_EQ(filter("=3"), "=3");
    EXPECT_EQ(filter("slow+taken+='a + b'"), "slow+taken+=a + b");
    EXPECT_EQ(filter("sl+not"), "slow+not-taken");
    EXPECT_EQ(parsed<DiffCommand>("diff taken not-taken").second.taken, false);
    EXPECT_EQ(parsed<DiffCommand>("diff slow+taken fast").first.taken, true);
    EXPECT_EQ(parsed<DiffCommand>("diff =1 =2").first.label, "1");
    EXPECT_EQ(parsed<CallsCommand>("calls slow+taken -n 3").filter.taken, true);
    EXPECT_FALSE(parsed<CallsCommand>("calls slow+taken -n 3").probe);
    EXPECT_EQ(parsed<CallsCommand>("calls handle slow").filter, CallClass::slow);
    EXPECT_EQ(parsed<CallsCommand>("calls 'slow'").probe->text, "slow");
    EXPECT_THAT(wrong("flame slow+tkaen"), HasSubstr("12: \"tkaen\" is not a class (did you"));
    EXPECT_THAT(wrong("flame slow+fast"), HasSubstr("12: \"fast\" excludes"));
    EXPECT_EQ(parsed<FlameCommand>("flame 10ms..50ms").query.filter.range,
              (DurationRange{10'000'000, 50'000'000}));
    EXPECT_EQ(filter("1.5ms..+taken"), "1.5ms..+taken");
    EXPECT_EQ(filter("slow+..2s"), "slow+..2s");
    EXPECT_EQ(filter("1ns..3us+=x..y"), "1ns..3us+=x..y");
    EXPECT_EQ(parsed<CallsCommand>("calls ..50ms").filter.range->to_ns, 50'000'000u);
    EXPECT_TRUE(parsed<CallsCommand>("calls handle 5ms.. -n 3").filter.range->open_ended());
    EXPECT_EQ(parsed<DiffCommand>("diff 10ms.. ..10ms").first.range->from_ns, 10'000'000u);
    EXPECT_THAT(wrong("diff 10ms.. ..11ms"), HasSubstr("6: a call can be in both"));
    EXPECT_THAT(wrong("flame slow+10ms..50"), HasSubstr("18: \"50\" has no unit"));
    EXPECT_THAT(wrong("calls 1..50ms"), HasSubstr("7: \"1\" has no unit"));
    EXPECT_THAT(wrong("calls 10ms..x"), HasSubstr("13: \"x\" is no duration"));
    EXPECT_THAT(wrong("flame 50ms..10ms"), HasSubstr("7: no duration is in \"50ms..10ms\""));
    EXPECT_THAT(wrong("flame ..+slow"), HasSubstr("7: a range of durations needs a bound"));
    EXPECT_THAT(wrong("flame 1ms..+2ms.."), HasSubstr("13: \"2ms..\" excludes"));
    EXPECT_THAT(wrong("diff slow taken"), HasSubstr("6: a call can be in both of these"));
    EXPECT_THAT(wrong("diff outside+taken slow"), HasSubstr("only ended calls"));
}

TEST(NeighbourCommands, FunctionClassAndRows) {
    EXPECT_EQ(parsed<NeighboursCommand>("callers parse").kind, FunctionFocus::Kind::callers);
    EXPECT_EQ(parsed<NeighboursCommand>("callees 'ns::f(int)' slow+5ms.. -n 3").function,
              "ns::f(int)");
    EXPECT_EQ(parsed<NeighboursCommand>("callees f slow+5ms.. -n 3").limit, 3u);
    EXPECT_EQ(parsed<NeighboursCommand>("callees f slow").filter, CallClass::slow);
    EXPECT_EQ(wrong("callers"), "8: a function is missing here (usage: callers FUNCTION [CLASS] "
                                "[-n ROWS])");
    EXPECT_THAT(wrong("callers f slw"), HasSubstr("11: \"slw\" is not a class"));
}

TEST(SitesCommand, FunctionAndPattern) {
    EXPECT_EQ(parsed<SitesCommand>("sites libc:recv").function.text, "libc:recv");
    EXPECT_EQ(parsed<SitesCommand>("sites recv in 'handle_*'").within, "handle_*");
    EXPECT_EQ(wrong("sites"), "6: a function is missing here (usage: sites FUNCTION [in PATTERN])");
    EXPECT_EQ(wrong("sites recv@main.cc:12"), "7: this is a call site already (write sites recv)");
    EXPECT_EQ(wrong("sites recv in"),
              "14: a function, file or library is missing here (usage: sites "
              "FUNCTION [in PATTERN])");
    EXPECT_EQ(parsed<SlowCommand>("slow recv@main.cc:1312 > 1ms").probe.text, "recv@main.cc:1312");
    EXPECT_EQ(parsed<TimeCommand>("time recv@*").probe.text, "recv@*");
}

TEST(FileCommands, Paths) {
    EXPECT_EQ(parsed<RecordCommand>("record a.auger").path, "a.auger");
    EXPECT_EQ(parsed<RecordCommand>("record off").path, "");
    EXPECT_EQ(parsed<RecordCommand>("record 'off'").path, "off");
    EXPECT_EQ(parsed<SaveCommand>("save a.folded slow").query.filter, CallClass::slow);
    EXPECT_EQ(parsed<SaveCommand>("save a.aug").format, nullptr);
    EXPECT_EQ(parsed<SaveCommand>("save a.pb.gz under f").format->name, "pprof");
    EXPECT_EQ(parsed<SaveCommand>("save a.pb.gz under f").query.under, "f");
    EXPECT_EQ(parsed<SaveCommand>("save a by comm --format perf-script slow").format->name,
              "perf-script");
    EXPECT_THAT(wrong("save a --format x"),
                HasSubstr("collapsed perf-script pprof speedscope html"));
    EXPECT_EQ(parsed<SourceCommand>("source 'a b'").path, "a b");
    EXPECT_THAT(wrong("save a"), HasSubstr("called a.folded"));
    EXPECT_THAT(wrong("record ''"), HasSubstr("needs a name"));
}

TEST(Conditions, Quantities) {
    const auto condition = [](const std::string& text) {
        return parsed<AssertCommand>("assert " + text).condition;
    };
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
    EXPECT_THAT(wrong("assert calls f < 5ms"), HasSubstr("18: \"5ms\" is no count"));
    EXPECT_THAT(wrong("assert share parse > 50"), HasSubstr("22: \"50\" is no percentage"));
    EXPECT_THAT(wrong("assert lost = 0"), HasSubstr("13: \"=\" is no comparison (write ==)"));
    EXPECT_THAT(wrong("assert p99 < 5ms"), HasSubstr("12: \"p99\" of which probe?"));
    EXPECT_THAT(wrong("assert cals f > 1"), HasSubstr("did you mean \"calls\"?"));
    EXPECT_THAT(wrong("assert"), HasSubstr("7: a quantity"));
    EXPECT_THAT(wrong("assert lost == 0 x"), HasSubstr("18: \"x\" is too much"));
}

TEST(Conditions, Comparisons) {
    const auto holds = [](const std::string& text, double actual) {
        return parsed<AssertCommand>("assert samples " + text).condition.holds(actual);
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

TEST(WaitCommand, Forms) {
    EXPECT_EQ(parsed<WaitCommand>("wait 5s").duration_ns, 5'000'000'000u);
    EXPECT_EQ(parsed<WaitCommand>("wait for 5s").duration_ns, 5'000'000'000u);
    EXPECT_EQ(parsed<WaitCommand>("wait until calls f >= 10 for 30s").limit_ns, 30'000'000'000u);
    EXPECT_FALSE(parsed<WaitCommand>("wait until exited").limit_ns);
    EXPECT_THAT(wrong("wait calls f > 5"), HasSubstr("write wait until calls"));
    EXPECT_THAT(wrong("wait 5"), HasSubstr("write 5ms or 5s"));
    EXPECT_THAT(wrong("wait until exited for"), HasSubstr("longest time to wait is missing"));
}

TEST(OtherCommands, Forms) {
    EXPECT_EQ(parsed<EchoCommand>("echo a  'b  c'").text, "a b  c");
    EXPECT_EQ(parsed<EchoCommand>("echo").text, "");
    EXPECT_EQ(parsed<HelpCommand>("help spl").topic, "split");
    parsed<UndoCommand>("undo");
    parsed<DoctorCommand>("doctor");
    EXPECT_THAT(wrong("help nonsense"), HasSubstr("6: there is no command"));
    EXPECT_THAT(wrong("undo 3"), HasSubstr("6: \"3\" is too much"));
}

std::vector<std::string> completed(const std::string& line, size_t* start = nullptr) {
    CompletionSource source;
    source.probes = [] { return std::vector<std::string>{"handle", "libc:recv"}; };
    source.functions = [](std::string_view) {
        return std::vector<std::string>{"handle_all", "ns::f(int, char)", "a'b c"};
    };
    source.files = [](std::string_view) { return std::vector<std::string>{"dir/", "my file.aug"}; };
    const Completion completion = complete(line, source);
    if (start)
        *start = completion.start;
    return completion.candidates;
}

TEST(Completion, CommandsWordsProbesAndFiles) {
    size_t start = 99;
    EXPECT_THAT(completed("spl", &start), ElementsAre("split"));
    EXPECT_EQ(start, 0u);
    EXPECT_THAT(completed(""), Contains("status"));
    EXPECT_THAT(completed("echo a; uns", &start), ElementsAre("unsplit"));
    EXPECT_EQ(start, 8u);
    EXPECT_THAT(completed("split ha", &start), ElementsAre("handle", "handle_all"));
    EXPECT_EQ(start, 6u);
    EXPECT_THAT(completed("split handle "), ElementsAre(">", "at", "by", "if"));
    EXPECT_THAT(completed("only comm a an"), ElementsAre("and"));
    EXPECT_THAT(completed("split handle > p9"), ElementsAre("p90", "p95", "p99", "p99.9"));
    EXPECT_THAT(completed("hist "), ElementsAre("handle", "libc:recv"));
    EXPECT_THAT(completed("save f by cp"), ElementsAre("cpu"));
    EXPECT_THAT(completed("save f slow by cpu under ns"), ElementsAre("ns::f(int, char)"));
    EXPECT_THAT(completed("save f slow --format c"),
                ElementsAre("calls-csv", "calls-json", "chrome-trace", "collapsed"));
    EXPECT_THAT(completed("flame slow under ns --f"), ElementsAre("--folded"));
    EXPECT_THAT(completed("help sp"), ElementsAre("split"));
    EXPECT_THAT(completed("unsplit "), ElementsAre());
    EXPECT_THAT(completed("nonsense x"), ElementsAre());
}

TEST(Completion, InsertsWhatReadsBackAsOneWord) {
    EXPECT_THAT(completed("time ns"), ElementsAre("ns::f(int, char)"));
    EXPECT_THAT(completed("source my"), ElementsAre("'my file.aug'"));
    EXPECT_THAT(completed("source 'my f"), ElementsAre("'my file.aug'"));
    EXPECT_THAT(completed("time a"), ElementsAre("\"a'b c\""));
}

} // namespace
} // namespace auger
