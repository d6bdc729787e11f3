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
    EXPECT_EQ(wrong("t f"), "1: \"t\" is ambiguous (one of: target, time, threshold, top)");
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
    EXPECT_EQ(parsed<SampleCommand>("sample 49,999").sampling, (Settings{49'999, false}));
    EXPECT_EQ(parsed<SampleCommand>("sample 99 Hz").sampling, (Settings{99, false}));
    EXPECT_EQ(parsed<SampleCommand>("sample wall").sampling, (Settings{999, true}));
    EXPECT_EQ(parsed<SampleCommand>("sample wall 199").sampling, (Settings{199, true}));
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
}

TEST(ProbeCommands, ProbesAndThresholds) {
    EXPECT_EQ(parsed<TimeCommand>("time ns::f(int, char)").probe.text, "ns::f(int, char)");
    EXPECT_EQ(parsed<TimeCommand>("time #2").probe.number, 2u);
    EXPECT_EQ(parsed<TimeCommand>("time 2").probe.number, 2u);
    EXPECT_FALSE(parsed<TimeCommand>("time f2").probe.number);
    EXPECT_EQ(parsed<SlowCommand>("slow f > 5ms").threshold.fixed_ns, 5'000'000u);
    EXPECT_EQ(parsed<SlowCommand>("slow f off").threshold.kind, Threshold::Kind::none);
    EXPECT_EQ(parsed<SplitCommand>("split f >p95").threshold.percentile, 95);
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
    EXPECT_EQ(parsed<FlameCommand>("flame slow").filter, CallClass::slow);
    EXPECT_EQ(parsed<FlameCommand>("flame all").filter, std::nullopt);
    EXPECT_TRUE(parsed<FlameCommand>("flame --folded open").folded);
    EXPECT_EQ(parsed<TopCommand>("top slow -n 10").limit, 10u);
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
    EXPECT_THAT(wrong("diff slow open"), HasSubstr("only slow and fast"));
    EXPECT_THAT(wrong("diff slow slow"), HasSubstr("with itself"));
    EXPECT_THAT(wrong("top -n 0"), HasSubstr("0 rows"));
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
    EXPECT_EQ(parsed<SaveCommand>("save a.folded slow").filter, CallClass::slow);
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
    EXPECT_EQ(condition("share parse > 50%").quantity.filter, std::nullopt);
    EXPECT_EQ(condition("samples open > 0").quantity.filter, CallClass::open);
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
    EXPECT_THAT(completed("split handle "), ElementsAre(">"));
    EXPECT_THAT(completed("split handle > p9"), ElementsAre("p90", "p95", "p99", "p99.9"));
    EXPECT_THAT(completed("hist "), ElementsAre("handle", "libc:recv"));
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
