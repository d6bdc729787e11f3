// SPDX-License-Identifier: GPL-3.0-or-later
// Commands: what is a line of each, and what edits make of the settings.
#include "tests/unit/command_lines.h"

#include "repl/session/edit_command.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Settings with_target() {
    Settings settings;
    settings.target.kind = TargetSpec::Kind::all;
    return settings;
}

bool edits(const std::string& line) {
    const auto command = parse(line);
    return command && dynamic_cast<const EditCommand*>(command->get());
}

// What the command makes of the settings `before`, after 100 s of observation.
Settings edited(const std::string& line, const Settings& before = with_target()) {
    const auto command = parse(line);
    const auto* edit = command ? dynamic_cast<const EditCommand*>(command->get()) : nullptr;
    if (!edit) {
        ADD_FAILURE() << line << ": " << (command ? "no edit" : command.complaint().message);
        return before;
    }
    constexpr uint64_t second = 1'000'000'000;
    SettingsEdit made(
        {before, command_table().settings(), ProbeId{1}, false, 5 * second, 105 * second});
    if (auto done = edit->edit(made); !done)
        ADD_FAILURE() << line << ": " << done.complaint().message;
    return made.settings;
}

// The only probe that there is then.
ProbeSetting probe_of(const std::string& line) {
    const Settings settings = edited(line);
    EXPECT_EQ(settings.probes.size(), 1u) << line;
    return settings.probes.empty() ? ProbeSetting{} : settings.probes.front();
}

TEST(TargetCommand, Forms) {
    EXPECT_FALSE(edits("target"));
    EXPECT_THAT(edited("target 12 34,56").target.pids, ElementsAre(12, 34, 56));
    EXPECT_THAT(edited("target -p 12").target.pids, ElementsAre(12));
    EXPECT_FALSE(edited("target 12").target.tree);
    EXPECT_TRUE(edited("target -p 12 34 --tree").target.tree);
    EXPECT_TRUE(edited("target 12 --tree").target.tree);
    EXPECT_THAT(wrong("target -p --tree"), HasSubstr("a pid is missing here"));
    EXPECT_EQ(edited("target nginx").target.name, "nginx");
    EXPECT_EQ(edited("target -n 12").target.name, "12");
    EXPECT_EQ(edited("target -n nginx").target.user, "");
    EXPECT_EQ(edited("target -n nginx user www-data").target.user, "www-data");
    const TargetSpec both = edited("target -n nginx cgroup web-1 user 33").target;
    EXPECT_EQ(both.cgroup, "web-1");
    EXPECT_EQ(both.user, "33");
    EXPECT_EQ(edited("target -a").target.kind, TargetSpec::Kind::all);
    EXPECT_EQ(edited("target off").target.kind, TargetSpec::Kind::none);
    EXPECT_THAT(edited("target -- ./a -p 5 'x y'").target.command,
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
    EXPECT_FALSE(edits("filter"));
    Settings before;
    before.filter.comms = {"a"};
    before.filter.tids = {4};
    EXPECT_EQ(edited("filter off", before).filter, FilterSpec());
    EXPECT_THAT(edited("filter tid 5 6,7").filter.tids, ElementsAre(5, 6, 7));
    EXPECT_THAT(edited("filter comm a 'b c'").filter.comms, ElementsAre("a", "b c"));
    EXPECT_TRUE(edited("filter comm off", before).filter.comms.empty());
    EXPECT_THAT(edited("filter comm off", before).filter.tids, ElementsAre(4));
    EXPECT_THAT(edited("filter cgroup a/b").filter.cgroups, ElementsAre("a/b"));
    EXPECT_THAT(wrong("filter comm a-name-of-16-byte"),
                HasSubstr("did you mean \"a-name-of-16-by\"?"));
    EXPECT_THAT(wrong("filter pid"), HasSubstr("11: a pid is missing here"));
    EXPECT_THAT(wrong("filter cmm x"), HasSubstr("did you mean \"comm\"?"));
}

TEST(ExitCommand, QuitsOrChoosesTheWayOut) {
    EXPECT_FALSE(edits("exit"));
    EXPECT_EQ(edited("exit ret").way_out, WayOut::ret);
    EXPECT_EQ(edited("exit tramp").way_out, WayOut::trampoline);
    EXPECT_EQ(wrong("exit rte"), "6: \"rte\" is not a kind of exit probes (did you mean \"ret\"?)");
}

TEST(SampleCommand, Rates) {
    using Settings = SamplingSettings;
    EXPECT_EQ(edited("sample").sampling, (Settings{999, false}));
    EXPECT_EQ(edited("sample 49,999").sampling, (Settings{49'999, false}));
    EXPECT_EQ(edited("sample 99 Hz").sampling, (Settings{99, false}));
    EXPECT_EQ(edited("sample wall").sampling, (Settings{999, true}));
    EXPECT_EQ(edited("sample wall 199").sampling, (Settings{199, true}));
    const Settings wakers = edited("sample wall wakers 199").sampling;
    EXPECT_TRUE(wakers.wall && wakers.wakers && wakers.rate_hz == 199);
    EXPECT_FALSE(edited("sample wall").sampling.wakers);
    EXPECT_THAT(wrong("sample wakers"), HasSubstr("sample wall wakers"));
    EXPECT_EQ(edited("sample tasks").sampling, (Settings{.rate_hz = 999, .tasks = true}));
    const Settings tasks = edited("sample wall wakers tasks 199 waits 9").sampling;
    EXPECT_TRUE(tasks.wall && tasks.wakers && tasks.tasks && tasks.waits_hz == 9);
    EXPECT_FALSE(edited("sample wall 199").sampling.tasks);
    EXPECT_THAT(wrong("sample tasks wall"), HasSubstr("14: \"wall\" cannot stand here"));
    EXPECT_THAT(wrong("sample tasks off"), HasSubstr("14: \"off\" cannot stand here"));
    const Settings label = edited("sample wall golabel route 199 waits 9").sampling;
    EXPECT_TRUE(label.wall && label.go_label == "route" && label.waits_hz == 9);
    EXPECT_EQ(label.rate_hz, 199u);
    EXPECT_EQ(edited("sample golabel 499").sampling.go_label, "499"); // it is the key
    EXPECT_EQ(edited("sample tasks golabel \"span id\"").sampling.go_label, "span id");
    EXPECT_EQ(edited("sample 199").sampling.go_label, "");
    EXPECT_THAT(wrong("sample golabel"), HasSubstr("a label's key"));
    EXPECT_THAT(wrong("sample golabel \"\""), HasSubstr("16: \"\" is no label's key"));
    EXPECT_THAT(wrong("sample golabel " + std::string(25, 'k')), HasSubstr("1 to 24 bytes"));
    EXPECT_THAT(wrong("sample golabel route wall"), HasSubstr("22: \"wall\" cannot stand here"));
    EXPECT_EQ(edited("sample off").sampling, Settings{});
    EXPECT_THAT(wrong("sample 0"), HasSubstr("sample off"));
    EXPECT_THAT(wrong("sample 50000"), HasSubstr("from 1 to 49,999"));
}

TEST(SampleCommand, RaisedRates) {
    Settings before = with_target();
    before.sampling.rate_hz = 99;
    const Settings settings = edited("sample wall 4999 Hz only handle > p95", before);
    EXPECT_EQ(settings.sampling.rate_hz, 99u);
    EXPECT_EQ(settings.sampling.raised_hz, 4999u);
    EXPECT_TRUE(settings.sampling.wall);
    ASSERT_EQ(settings.probes.size(), 1u);
    EXPECT_EQ(settings.sampling.raised.terms.at(0).probe, settings.probes[0].id);
    EXPECT_FALSE(settings.sampling.tasks);
    EXPECT_TRUE(edited("sample tasks 4999 only in handle", before).sampling.tasks);
    EXPECT_THAT(wrong("sample 4999 only comm a and at x.c:3"),
                HasSubstr("29: a line is known only when the call ends"));
    EXPECT_THAT(wrong("sample 4999 only"), HasSubstr("17: a condition is missing here"));
}

TEST(WindowCommands, Spans) {
    EXPECT_EQ(edited("window 10s").window, (Window{Window::Kind::last, 10'000'000'000}));
    EXPECT_EQ(edited("window all").window, Window{});
    EXPECT_EQ(edited("ewma 10s").window, (Window{Window::Kind::ewma, 10'000'000'000}));
    EXPECT_EQ(edited("ewma off").window, Window{});
    EXPECT_FALSE(edits("window"));
    EXPECT_THAT(wrong("window 10"), HasSubstr("10s"));
    EXPECT_THAT(wrong("window 0s"), HasSubstr("window all"));
    EXPECT_EQ(edited("window 10s").window.end_ns, 0u);
    EXPECT_EQ(edited("window 5s until 17.5s").window.end_ns, 22'500'000'000u);
    EXPECT_EQ(edited("ewma 5s until 17.5s").window.kind, Window::Kind::ewma);
    EXPECT_EQ(edited("window until 1m").window, (Window{Window::Kind::all, 0, 65'000'000'000}));
    EXPECT_EQ(wrong("window 5s until"),
              "16: a time since observation began is missing here (usage: "
              "window [DURATION | all] [until TIME])");
    EXPECT_THAT(wrong("window 5s until 17"), HasSubstr("17: \"17\" has no unit"));
    EXPECT_THAT(wrong("window 5s until 0s"), HasSubstr("17: nothing was observed before 0"));
    EXPECT_THAT(wrong("window 5s util 7s"), HasSubstr("11: \"util\" is too much"));
}

TEST(ProbeCommands, ProbesAndThresholds) {
    EXPECT_EQ(probe_of("time ns::f(int, char)").text, "ns::f(int, char)");
    EXPECT_EQ(probe_of("time f2").text, "f2");
    EXPECT_EQ(probe_of("slow f > 5ms").slow.fixed_ns, 5'000'000u);
    EXPECT_EQ(edited("split f >p95").split.threshold.percentile, 95);
    EXPECT_TRUE(edited("split f > 10ms so-far").split.so_far);
    EXPECT_FALSE(edited("split f > 10ms").split.so_far);
    const Settings split = edited("split f > 10ms");
    EXPECT_EQ(edited("threshold f p99", split).split.threshold.percentile, 99);
    for (const char* number : {"1", "#1"}) {
        EXPECT_TRUE(edited("time " + std::string(number) + " off", split).probes.at(0).off);
        EXPECT_TRUE(edited("delete " + std::string(number), split).probes.empty());
    }
    EXPECT_FALSE(edited("delete f", split).split.active);
    const Settings slow = edited("slow f > 5ms", split);
    EXPECT_EQ(edited("slow f off", slow).probes.at(0).slow.kind, Threshold::Kind::none);
    EXPECT_FALSE(edited("unsplit", split).split.active);
    EXPECT_FALSE(edited("split off", split).split.active);
    EXPECT_THAT(wrong("time"), HasSubstr("5: a probe is missing here"));
    EXPECT_THAT(wrong("split f>p95"),
                HasSubstr("7: blanks are missing around \">\" (write f > p95)"));
    EXPECT_THAT(wrong("split > p95"), HasSubstr("7: a probe is missing before this"));
    EXPECT_THAT(wrong("split f < p95"), HasSubstr("9: slow calls are those above"));
    EXPECT_THAT(wrong("split f >"), HasSubstr("10: a threshold (p95, 5ms) is missing here"));
    EXPECT_THAT(wrong("split f > p95 sofar"), HasSubstr("15: \"sofar\" is too much here"));
}

TEST(ViewCommands, ClassesAndRows) {
    for (const char* line : {"flame --folded open",
                             "flame slow by comm under 'f(int, int)'",
                             "top slow -n 10",
                             "threads slow",
                             "diff",
                             "diff fast slow",
                             "calls f -n 5",
                             "calls",
                             "hist #3",
                             "probes",
                             "status",
                             "functions",
                             "functions 'parse_*' sort p99 -n 5",
                             "functions sort calls",
                             "functions 'sort' sort max",
                             "functions #2 -n 3",
                             "explain",
                             "explain -n 3",
                             "explain f by g,h i, 'ns::k(int, char)' -n 3",
                             "explain 'off' auto",
                             "explain off"})
        expect_fine(line);
    EXPECT_EQ(wrong("flame slw"), "7: \"slw\" is not a class (did you mean \"slow\"?)");
    EXPECT_THAT(wrong("flame --svg"), HasSubstr("7: there is no option"));
    EXPECT_THAT(wrong("flame --native --language"),
                HasSubstr("16: which frames are shown has been said"));
    EXPECT_THAT(wrong("flame slow fast"), HasSubstr("12: \"fast\" is too much"));
    EXPECT_THAT(wrong("diff slow open"), HasSubstr("11: only ended calls"));
    EXPECT_THAT(wrong("diff slow slow"), HasSubstr("with itself"));
    EXPECT_THAT(wrong("top -n 0"), HasSubstr("0 rows"));
    EXPECT_THAT(wrong("functions f sort own"),
                HasSubstr("18: \"own\" is not a column (one of: calls, total, self, mean"));
    EXPECT_THAT(wrong("functions f sort"), HasSubstr("a column is missing"));
    EXPECT_THAT(wrong("functions f p99"), HasSubstr("\"p99\" is too much"));
    EXPECT_THAT(wrong("explain f by"), HasSubstr("13: a function is missing"));
    EXPECT_THAT(wrong("explain f by ,"), HasSubstr("a function is missing"));
    EXPECT_THAT(wrong("explain f g"), HasSubstr("11: \"g\" is too much"));
    EXPECT_THAT(wrong("explain f auto by g"), HasSubstr("16: \"by\" is too much"));
}

TEST(SplitCommand, PartsInAnyCombination) {
    const Settings before = edited("split g > 1ms");
    const auto split = [&](const std::string& text) {
        return edited("split " + text, before).split;
    };
    EXPECT_EQ(split("f at main.cc:12").branch.text(), "at main.cc:12");
    EXPECT_EQ(split("f at main.cc:12").threshold.kind, Threshold::Kind::none) << "another probe";
    EXPECT_EQ(split("at main.cc:12").probe, before.split.probe);
    EXPECT_EQ(split("at main.cc:12").threshold.fixed_ns, 1'000'000u) << "the same probe";
    EXPECT_EQ(split("if arg2 > 4096 and not (ret < 0)").branch.text(),
              "if arg2 > 4096 and not (ret < 0)");
    EXPECT_EQ(split("f by arg1").label, "arg1");
    const SplitSetting all = split("f > p95 so-far by str(arg1) if arg0 == \"a by b\"");
    EXPECT_EQ(all.threshold.percentile, 95);
    EXPECT_TRUE(all.so_far);
    EXPECT_EQ(all.label, "str(arg1)");
    EXPECT_EQ(all.branch.text(), "if arg0 == \"a by b\"");
    // Where '<' and '>' stick to words, what the lexer joins is still the text as typed.
    EXPECT_EQ(split("f if arg0<4 and arg1>3 by arg2").branch.text(), "if arg0<4 and arg1>3");
    // A function may be called like a keyword.
    EXPECT_EQ(probe_of("split at > p95").text, "at");
    EXPECT_EQ(wrong("split f at main.cc"),
              "12: \"main.cc\" is not a line (write FILE:LINE, as in main.cc:1290)");
    EXPECT_THAT(wrong("split f at main.cc:0"), HasSubstr("12: \"main.cc:0\" is not a line"));
    EXPECT_THAT(wrong("split f at"), HasSubstr("11: something is missing after \"at\""));
    EXPECT_THAT(wrong("split f at a.c:1 if arg0 > 1"), HasSubstr("21: a split has one branch"));
    EXPECT_THAT(wrong("split f at a.c:1 at a.c:2"), HasSubstr("18: there is another \"at\""));
    EXPECT_THAT(wrong("split f > p95 at a.c:1 if"), HasSubstr("26: something is missing"));
    EXPECT_THAT(wrong("split f if arg2 >"), HasSubstr(": "));
    EXPECT_THAT(wrong("split f if (arg2 > 4"), HasSubstr("21: "));
}

TEST(SlowCommand, PredicatesAndValues) {
    const auto slow = [](const std::string& text) { return probe_of("slow " + text).conditions; };
    EXPECT_TRUE(slow("f > 1ms").show_default);
    EXPECT_EQ(slow("f > 1ms if ret < 0").slow_if, "ret < 0");
    const CallConditions all = slow("f > 1ms if ret < 0 show arg0,  str(arg1) ,errno");
    EXPECT_EQ(all.slow_if, "ret < 0");
    EXPECT_THAT(all.show, ElementsAre("arg0", "str(arg1)", "errno"));
    EXPECT_FALSE(all.show_default);
    EXPECT_TRUE(slow("f > 1ms show off").show.empty());
    EXPECT_FALSE(slow("f > 1ms show off").show_default);
    EXPECT_EQ(wrong("slow f > 1ms show arg0,,arg1"), "24: an expression is missing here");
    EXPECT_THAT(wrong("slow f > 1ms show arg0, str("), HasSubstr(": "));
    const CallConditions pointers =
        slow("f > 1ms if *(u32 *)(arg0 + 8) >> 4 == 3 and flags & 6 == 2 "
             "show p->items[i], ((ns::map<int, int> *)arg1)->len, &p->x");
    EXPECT_EQ(pointers.slow_if, "*(u32 *)(arg0 + 8) >> 4 == 3 and flags & 6 == 2");
    EXPECT_THAT(pointers.show,
                ElementsAre("p->items[i]", "((ns::map<int, int> *)arg1)->len", "&p->x"));
    EXPECT_THAT(wrong("slow f > 1ms show arg0, arg1 ^ 2"), HasSubstr("30: "));
    EXPECT_THAT(wrong("slow f > 1ms show arg0, *(u8 *)"), HasSubstr(": a value is missing"));
    const ProbeSetting traced = probe_of("trace f if arg0 > 1 show arg0, ret");
    EXPECT_TRUE(traced.slow.is_of_every_call());
    EXPECT_EQ(traced.conditions.slow_if, "arg0 > 1");
    EXPECT_THAT(traced.conditions.show, ElementsAre("arg0", "ret"));
    EXPECT_TRUE(probe_of("trace usdt:shop:tick").conditions.show_default);
    EXPECT_THAT(wrong("trace f > 1ms"), HasSubstr("9: \">\" is too much here"));
    EXPECT_THAT(wrong("slow f > 1ms when ret < 0"), HasSubstr("14: \"when\" is too much"));
    // The place of a mistake is that within the predicate.
    EXPECT_THAT(wrong("slow f > 1ms if ret < 0 and"), Not(HasSubstr("17: ")));
}

TEST(OnlyCommand, Forms) {
    EXPECT_FALSE(edits("only"));
    const Settings before = edited("only recv if ret < 0", edited("only comm a and at x.c:3"));
    EXPECT_EQ(before.only.text, "comm a and at x.c:3");
    EXPECT_THAT(before.only.lines, ElementsAre("x.c:3"));
    EXPECT_EQ(before.probes.at(0).conditions.only_if, "ret < 0");
    EXPECT_EQ(edited("only off", before).only, OnlyInfo());
    EXPECT_EQ(edited("only off", before).probes.at(0).conditions.only_if, "ret < 0");
    EXPECT_EQ(edited("only recv if off", before).probes.at(0).conditions.only_if, "");
    const Settings stacks = edited("only comm a and in py:app.get");
    EXPECT_THAT(stacks.kept_stacks.functions, ElementsAre("py:app.get"));
    EXPECT_EQ(stacks.only.gate.terms.size(), 1u);
    EXPECT_EQ(edited("only comm b", stacks).kept_stacks, StackCondition());
    EXPECT_EQ(edited("only off", stacks).kept_stacks, StackCondition());
}

TEST(OnlyCommand, MistakesHaveTheirPlace) {
    EXPECT_THAT(wrong("only comm a comm b"),
                HasSubstr("13: \"and\" or \"or\" is missing before \"comm\""));
    EXPECT_THAT(wrong("only (comm a"), HasSubstr("6: this \"(\" is not closed"));
    EXPECT_THAT(wrong("only comm a)"), HasSubstr("12: no \"(\" belongs to this"));
    EXPECT_THAT(wrong("only comm a and"), HasSubstr("16: a condition is missing here"));
    EXPECT_THAT(wrong("only handle"), HasSubstr("6: \"handle\" alone is not a condition (write in "
                                                "handle, or handle > p95)"));
    EXPECT_THAT(wrong("only handle < p95"), HasSubstr("13: calls are kept beyond a threshold"));
    EXPECT_THAT(wrong("only handle > 5"), HasSubstr("15: \"5\" has no unit"));
    EXPECT_THAT(wrong("only tid x"), HasSubstr("10: \"x\" is no tid"));
    EXPECT_THAT(wrong("only comm a-name-of-16-byte"), HasSubstr("did you mean"));
    EXPECT_THAT(wrong("only (comm a or) and pid 1"),
                HasSubstr("16: a condition is missing before"));
    EXPECT_THAT(wrong("only " + std::string(200, '(')), HasSubstr("nested too deep"));
}

TEST(NeighbourCommands, FunctionClassAndRows) {
    for (const char* line : {"callers parse", "callees 'ns::f(int)' slow+5ms.. -n 3"})
        expect_fine(line);
    EXPECT_EQ(wrong("callers"), "8: a function is missing here (usage: callers FUNCTION [CLASS] "
                                "[-n ROWS] [--language | --native])");
    EXPECT_THAT(wrong("callers f slw"), HasSubstr("11: \"slw\" is not a class"));
}

TEST(TimeCommand, DryRun) {
    expect_fine("time --dry-run libc:recv");
    EXPECT_THAT(wrong("time --dry-run"), HasSubstr("15: a probe is missing here"));
    EXPECT_THAT(wrong("time --dry-run recv off"), HasSubstr("21: "));
    EXPECT_THAT(wrong("time --dry-run 1"), HasSubstr("16: this probe is there already"));
    EXPECT_THAT(wrong("time --dry-run syscall:read"), HasSubstr("16: what probes at tracepoints"));
}

TEST(SitesCommand, FunctionAndPattern) {
    expect_fine("sites libc:recv");
    expect_fine("sites recv in 'handle_*'");
    EXPECT_EQ(wrong("sites"), "6: a function is missing here (usage: sites FUNCTION [in PATTERN])");
    EXPECT_EQ(wrong("sites recv@main.cc:12"), "7: this is a call site already (write sites recv)");
    EXPECT_EQ(wrong("sites recv in"),
              "14: a function, file or library is missing here (usage: sites "
              "FUNCTION [in PATTERN])");
    EXPECT_EQ(probe_of("slow recv@main.cc:1312 > 1ms").text, "recv@main.cc:1312");
    EXPECT_EQ(probe_of("time recv@*").text, "recv@*");
}

TEST(FileCommands, Paths) {
    EXPECT_EQ(edited("record a.auger").recording, "a.auger");
    EXPECT_EQ(edited("record off", edited("record a.auger")).recording, "");
    EXPECT_EQ(edited("record 'off'").recording, "off");
    for (const char* line : {"save a.folded slow", "save a.aug", "save a.pb.gz under f",
                             "save a by comm --format perf-script slow", "source 'a b'"})
        expect_fine(line);
    EXPECT_THAT(wrong("save a --format x"),
                HasSubstr("collapsed perf-script pprof otlp speedscope html"));
    EXPECT_THAT(wrong("save a"), HasSubstr("called a.folded"));
    EXPECT_THAT(wrong("record ''"), HasSubstr("needs a name"));
}

TEST(FileCommands, IntervalsAsRecordings) {
    const auto intervals = [](const std::string& line) { return edited(line).intervals; };
    IntervalFiles files = intervals("record d every 60s keep 1440 auger");
    EXPECT_EQ(files.folder, "d");
    EXPECT_EQ(files.keep, 1440u);
    EXPECT_TRUE(files.recordings);
    EXPECT_THAT(files.formats, testing::IsEmpty());
    files = intervals("record d every 60s html auger");
    EXPECT_TRUE(files.recordings);
    EXPECT_THAT(files.formats, ElementsAre(find_export_format("html")));
    EXPECT_FALSE(intervals("record d every 60s").recordings);
    EXPECT_EQ(edited("record auger").recording, "auger");
    EXPECT_THAT(wrong("record d every 60s augr"), HasSubstr("20: there is no format \"augr\""));
    EXPECT_THAT(wrong("record d every 60s augr"), HasSubstr("html"));
    EXPECT_THAT(wrong("record d every 60s augr"), HasSubstr(" auger"));
    EXPECT_THAT(wrong("record d every 60s auger keep 3"), HasSubstr("26: there is no"));
}

TEST(WaitCommand, Forms) {
    for (const char* line :
         {"wait 5s", "wait for 5s", "wait until calls f >= 10 for 30s", "wait until exited"})
        expect_fine(line);
    EXPECT_THAT(wrong("wait calls f > 5"), HasSubstr("write wait until calls"));
    EXPECT_THAT(wrong("wait 5"), HasSubstr("write 5ms or 5s"));
    EXPECT_THAT(wrong("wait until exited for"), HasSubstr("longest time to wait is missing"));
}

TEST(OtherCommands, Forms) {
    for (const char* line : {"echo a  'b  c'", "echo", "help spl", "undo", "doctor", "quit"})
        expect_fine(line);
    EXPECT_THAT(wrong("help nonsense"), HasSubstr("6: there is no command"));
    EXPECT_THAT(wrong("undo 3"), HasSubstr("6: \"3\" is too much"));
}

} // namespace
} // namespace auger
