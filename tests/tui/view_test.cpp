// SPDX-License-Identifier: GPL-3.0-or-later
// The live view at its terminal: how it opens, sizes, is suspended and left; and that the terminal
// is as it was afterwards, whatever happens. What it shows and what keys mean is tested without a
// terminal.
#include "tests/kernel/program.h"
#include "tests/kernel/source_lines.h"
#include "tests/support/run.h"
#include "tests/support/wait.h"
#include "tests/tui/terminal.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace auger::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

class View : public TerminalTest {
  protected:
    // Of the demo service under a split, or of a program that is a copy of it.
    std::string record(const std::string& program) const {
        const std::string path = folder_.path("recording.auger");
        const Outcome outcome =
            run({AUGER_BINARY, "--batch", "--record", path, "-e",
                 "sample 999; split handle_request > p95; wait until calls handle_request > 400",
                 "--", program, "--seconds", "300"});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return path;
    }
    std::string record() const { return record(program_path("demo_service")); }

    // The view of a recording, as the terminal's own command.
    Terminal replay(const std::string& recording, std::vector<std::string> before = {}) const {
        before.insert(before.end(), {AUGER_BINARY, "--replay", recording});
        Terminal terminal(folder_, before);
        return terminal;
    }
    static void expect_open(const Terminal& terminal) {
        terminal.expect_window("handle_request");
        EXPECT_EQ(terminal.state("alternate_on"), "1");
        EXPECT_EQ(terminal.state("cursor_flag"), "0");
        EXPECT_FALSE(terminal.cooked());
    }
    // Nothing of the view is left, and the line discipline is the shell's.
    static void expect_restored(const Terminal& terminal) {
        EXPECT_TRUE(wait_until([&] {
            return terminal.state("alternate_on") == "0" && terminal.state("cursor_flag") == "1" &&
                   terminal.state("mouse_any_flag") == "0" &&
                   terminal.state("keypad_cursor_flag") == "0" && terminal.cooked();
        })) << terminal.window();
    }
    static constexpr const char* prompt = "auger [replay handle_request > p95]>";
};

TEST_F(View, OpensLeavesToThePromptAndComesBackAsItWas) {
    Terminal terminal = replay(record());
    expect_open(terminal);
    terminal.press("?"); // a page over everything
    terminal.press("q"); // and away
    terminal.press("q");
    terminal.expect_last_line(prompt);
    EXPECT_EQ(terminal.state("alternate_on"), "0");
    EXPECT_EQ(terminal.state("mouse_any_flag"), "0");
    terminal.enter("echo at the prompt");
    terminal.expect("\nat the prompt\n");
    terminal.enter("view");
    expect_open(terminal);
    terminal.press("Escape");
    terminal.expect_last_line(prompt);
    terminal.enter("quit");
    EXPECT_EQ(terminal.wait_exit(), 0);
}

TEST_F(View, CommandsAreTheSessionsAndRememberedByThePrompt) {
    Terminal terminal = replay(record());
    expect_open(terminal);
    terminal.type(":");
    terminal.enter("window 5s");
    terminal.expect_window("window: last 5.00 s");
    terminal.type(":");
    terminal.enter("time no_such_thing");
    terminal.expect_window("error");
    terminal.press("q");
    terminal.expect_last_line(prompt);
    terminal.enter("window");
    terminal.expect("\nwindow: last 5.00 s\n");
    terminal.press("Up");
    terminal.press("Up");
    terminal.expect_last_line(std::string(prompt) + " time no_such_thing");
    terminal.press("Up");
    terminal.expect_last_line(std::string(prompt) + " window 5s");
}

TEST_F(View, QuitInTheViewEndsAuger) {
    Terminal terminal = replay(record());
    expect_open(terminal);
    terminal.type(":");
    terminal.enter("quit");
    EXPECT_EQ(terminal.wait_exit(), 0);
}

TEST_F(View, FillsWhateverSizeTheTerminalHas) {
    Terminal terminal = replay(record());
    expect_open(terminal);
    for (const auto& [columns, rows] : {std::pair{40, 10}, {200, 60}, {60, 12}, {120, 40}}) {
        terminal.resize(columns, rows);
        const auto fits = [&, columns = columns, rows = rows] {
            const auto lines = lines_of(terminal.window());
            // The hints are in the last row but one, and the flame spans all columns.
            if (lines.size() < static_cast<size_t>(rows) - 1)
                return false;
            return std::to_string(columns) + "x" + std::to_string(rows) ==
                       terminal.state("pane_width") + "x" + terminal.state("pane_height") &&
                   !lines[static_cast<size_t>(rows) - 2].empty() && !lines[0].empty();
        };
        EXPECT_TRUE(wait_until(fits)) << columns << "x" << rows << "\n" << terminal.window();
    }
    terminal.press("q");
    terminal.expect_last_line(prompt);
}

TEST_F(View, CtrlCEndsACommandAndElseLeavesToThePrompt) {
    Terminal terminal = replay(record());
    expect_open(terminal);
    terminal.type(":");
    terminal.enter("wait until calls handle_request > 1000000000 for 1h; echo not ended");
    // A recording waits in no time.
    terminal.expect_window("cannot come true");
    terminal.press("C-c");
    terminal.expect_last_line(prompt);
    terminal.enter("quit");
    EXPECT_EQ(terminal.wait_exit(), 0);
}

TEST_F(View, KeysAndMouseOfATerminalAreUnderstoodAndOthersIgnored) {
    Terminal terminal = replay(record(), {"/usr/bin/env", "TERM=xterm-256color"});
    expect_open(terminal);
    // Ctrl-Right and a key that no terminal has: none of them is an Escape.
    for (const char* key : {"\x1b[1;5C", "\x1b[987~"})
        terminal.type(key);
    terminal.type(":");
    terminal.type("echo a\xc3\xa9x");
    terminal.press("BSpace");
    terminal.press("Enter");
    terminal.expect_window("a\xc3\xa9\n");
    EXPECT_EQ(terminal.state("alternate_on"), "1");
    terminal.press("F1"); // the keys
    terminal.expect_window("freeze");
    terminal.press("Escape"); // without another key behind it
    terminal.expect_gone("freeze");
    terminal.expect_window("[1 flame]");
    terminal.type("\x1b[<0;12;2M\x1b[<0;12;2m"); // on the second tab
    terminal.expect_window("[2 difference]");
    // A key that comes at once with the Escape before it.
    terminal.press("?");
    terminal.expect_window("freeze");
    terminal.type("\x1b"
                  "3");
    terminal.expect_window("[3 histogram]");
    terminal.expect_gone("freeze");
    terminal.type("\x1bO"); // of which O is no sequence's beginning either
    terminal.expect_window("[1 flame]");
}

TEST_F(View, TakesAPasteForTextAndNotForKeys) {
    Terminal terminal = replay(record());
    expect_open(terminal);
    terminal.paste("q2\x1bq\ntime x\n");
    terminal.expect_window("pasted text is not taken as keys");
    terminal.press("3");
    terminal.expect_window("[3 histogram]");
    terminal.press(":");
    terminal.paste("echo one\ntwo");
    terminal.press("Enter");
    terminal.expect_window("one two");
}

TEST_F(View, IsRefusedByATerminalThatCannotDoIt) {
    Terminal terminal = replay(record(), {"/usr/bin/env", "TERM=dumb"});
    terminal.expect("error: open the view on terminal dumb: it cannot place the cursor");
    terminal.enter("quit");
    EXPECT_EQ(terminal.wait_exit(), 0);
}

TEST_F(View, WritesNothingRawOfTheTarget) {
    const std::string evil = folder_.path("e\x1b]0;x\x07\x1b[2J\xff");
    std::filesystem::copy_file(program_path("demo_service"), evil);
    const std::string recording = record(evil);
    Terminal terminal(folder_, {"/bin/sh", "-i"});
    terminal.copy_output(folder_.path("output"));
    terminal.enter(std::string(AUGER_BINARY) + " --replay " + recording);
    expect_open(terminal);
    terminal.expect_window("e\\x1b]0;");
    terminal.press("q");
    terminal.expect(prompt);
    terminal.enter("quit");
    expect_restored(terminal);
    const std::string written = content(folder_.path("output"));
    EXPECT_GT(written.size(), 1000u);
    EXPECT_THAT(written, Not(HasSubstr("\x1b]0;")));
    EXPECT_THAT(written, Not(HasSubstr("\x07")));
    EXPECT_THAT(written, Not(HasSubstr("\xff")));
}

TEST_F(View, IsPlainAndAsciiWhereThatIsAskedFor) {
    const std::string recording = record();
    Terminal terminal(folder_, {"/bin/sh", "-i"});
    terminal.copy_output(folder_.path("output"));
    terminal.enter("LC_ALL=C NO_COLOR=1 " + std::string(AUGER_BINARY) + " --replay " + recording);
    expect_open(terminal);
    terminal.press("q");
    terminal.expect("auger [replay");
    const std::string written = content(folder_.path("output"));
    EXPECT_EQ(std::ranges::count_if(written, [](char c) { return (c & 0x80) != 0; }), 0);
    // No colour is set: SGR has 3N, 4N, 9N and 38;5;N for that.
    for (const char* colour : {"\x1b[3", "\x1b[4", "\x1b[9", ";3", ";4"}) {
        for (size_t at = 0; (at = written.find(colour, at)) != std::string::npos; ++at) {
            const size_t end = written.find_first_not_of("0123456789;", at + 2);
            EXPECT_NE(written.substr(end, 1) + written.substr(at + 3, 1),
                      "m" + written.substr(at + 3, 1))
                << "a colour: " << written.substr(at + 1, end - at);
        }
    }
}

// Or it would flicker, and be slow over a network.
TEST_F(View, WritesOnlyTheCellsThatChanged) {
    Terminal terminal = replay(record());
    terminal.copy_output(folder_.path("output"));
    expect_open(terminal);
    const auto written = [&] { return content(folder_.path("output")).size(); };
    // What is typed is seen after all that was pressed before it.
    const auto press_and_see = [&](const std::string& key, int times, const std::string& typed) {
        for (int i = 0; i < times; i++)
            terminal.press(key);
        terminal.type(":" + typed);
        terminal.expect_window(":" + typed);
        terminal.press("Escape");
        terminal.expect_gone(":" + typed);
        return written();
    };
    const size_t settled = press_and_see("Home", 1, "settled");
    // At the outermost frame there is nowhere to go: thirty frames are drawn, all of them the same.
    const size_t still = press_and_see("Home", 30, "still");
    EXPECT_LT(still - settled, 80u * 24u / 2) << "of " << settled;
    // And the screen can change.
    terminal.press("2");
    terminal.expect_window("[2 difference]");
    EXPECT_GT(written(), still);
}

// As many as there are numbers for: the colours are then numbers of 24 bits.
TEST_F(View, HasExactColoursWhereTheTerminalHasThem) {
    if (run({"/usr/bin/tput", "-T", "xterm-direct", "colors"}).code != 0)
        GTEST_SKIP() << "there is no xterm-direct (package ncurses-term)";
    const std::string recording = record();
    const std::string output = folder_.path("output");
    // What is written to the terminal when all of the screen is drawn anew.
    const auto colours = [&](const char* term) {
        std::filesystem::remove(output);
        Terminal terminal = replay(recording, {"/usr/bin/env", std::string("TERM=") + term});
        expect_open(terminal);
        terminal.copy_output(output);
        terminal.press("C-l");
        static const std::regex exact(R"(\x1b\[[0-9;]*[34]8:2::(\d+):(\d+):(\d+))"),
            numbered(R"(\x1b\[[0-9;]*[34]8;5;(\d+))");
        std::set<std::string> found;
        EXPECT_TRUE(wait_until([&] {
            const std::string text = content(output);
            for (const std::regex& kind : {exact, numbered})
                for (std::sregex_iterator it(text.begin(), text.end(), kind), end; it != end; ++it)
                    found.insert((it->size() > 2 ? "exact " : "") + (*it)[1].str());
            return found.size() >= 3;
        })) << testing::PrintToString(found);
        terminal.expect_window("handle_request");
        return found;
    };
    for (const std::string& colour : colours("xterm-direct"))
        EXPECT_THAT(colour, testing::StartsWith("exact"));
    for (const std::string& colour : colours("xterm-256color"))
        EXPECT_THAT(colour, Not(testing::StartsWith("exact")));
}

// Of SIGKILL nobody hears but the guardian.
class ViewEnding : public View, public testing::WithParamInterface<int> {};

TEST_P(ViewEnding, PutsTheTerminalBack) {
    // A shell that leaves the terminal alone, and stays.
    Terminal terminal(folder_, {"/bin/sh", "-c",
                                "echo shown before; " AUGER_BINARY " --replay " + record() +
                                    "; echo \"[ended $?]\"; exec cat"});
    expect_open(terminal);
    pid_t auger = 0;
    const std::string children = "/proc/" + std::to_string(terminal.pid()) + "/task/" +
                                 std::to_string(terminal.pid()) + "/children";
    ASSERT_TRUE(wait_until([&] { return bool(std::ifstream(children) >> auger); }));
    ASSERT_EQ(kill(auger, GetParam()), 0);
    expect_restored(terminal);
    // What was there before is there again, and what the shell says next follows it.
    const bool ends_by_itself = GetParam() == SIGTERM || GetParam() == SIGHUP;
    terminal.expect_window("shown before\n");
    terminal.expect_window("[ended " + std::to_string(ends_by_itself ? 0 : 128 + GetParam()) + "]");
}

INSTANTIATE_TEST_SUITE_P(Of, ViewEnding,
                         testing::Values(SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGQUIT, SIGKILL),
                         [](const auto& info) { return std::string(sigabbrev_np(info.param)); });

// The guardian cannot help then: what auger itself does must be enough.
class ViewEndingAlone : public ViewEnding {};

TEST_P(ViewEndingAlone, PutsTheTerminalBack) {
    Terminal terminal(folder_,
                      {"/bin/sh", "-c",
                       AUGER_BINARY " --replay " + record() + "; echo \"[ended $?]\"; exec cat"});
    expect_open(terminal);
    const auto child_of = [](pid_t parent) {
        const std::string id = std::to_string(parent);
        pid_t child = 0;
        EXPECT_TRUE(wait_until([&] {
            return bool(std::ifstream("/proc/" + id + "/task/" + id + "/children") >> child);
        }));
        return child;
    };
    const pid_t auger = child_of(terminal.pid());
    const pid_t guardian = child_of(auger);
    ASSERT_EQ(content("/proc/" + std::to_string(guardian) + "/comm"), "auger-guardian\n");
    ASSERT_EQ(kill(guardian, SIGKILL), 0);
    ASSERT_TRUE(wait_gone(guardian));
    ASSERT_EQ(kill(auger, GetParam()), 0);
    expect_restored(terminal);
}

INSTANTIATE_TEST_SUITE_P(Of, ViewEndingAlone,
                         testing::Values(SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGQUIT),
                         [](const auto& info) { return std::string(sigabbrev_np(info.param)); });

class LiveView : public TerminalTest {
  protected:
    void SetUp() override {
        TerminalTest::SetUp();
        if (!IsSkipped())
            demo_.wait_ready();
    }
    std::string prompt() const {
        return "auger [demo_service " + std::to_string(demo_.pid()) + " 999 Hz]>";
    }
    Terminal shell() const {
        Terminal terminal(folder_, {"/bin/bash", "--norc", "--noprofile", "-i"});
        terminal.enter("PS1='shell> '");
        terminal.expect_last_line("shell>");
        return terminal;
    }
    void open(Terminal& terminal) {
        terminal.enter(std::string(AUGER_BINARY) + " -p " + std::to_string(demo_.pid()));
        EXPECT_TRUE(wait_until([&] { return terminal.state("alternate_on") == "1"; }))
            << terminal.window();
        terminal.type(":");
        terminal.enter("sample 999");
        terminal.expect_window("handle_request");
    }

    Program demo_{"demo_service", {"--seconds", "300"}};
};

TEST_F(LiveView, GoesOnCollectingAfterItIsLeft) {
    Terminal terminal = shell();
    open(terminal);
    terminal.press("q");
    terminal.expect_last_line(prompt());
    // Within a window that begins after the view was left.
    terminal.enter("time handle_request; wait until calls handle_request > 10; window 1s; "
                   "wait 2s; wait until samples > 0; echo went on");
    terminal.expect("\nwent on\n");
}

TEST_F(LiveView, SamplesByItselfWhenItOpensByItself) {
    Terminal terminal = shell();
    terminal.enter(std::string(AUGER_BINARY) + " -p " + std::to_string(demo_.pid()));
    terminal.expect_window("499.0 Hz");
    // Waits, too.
    terminal.expect_window("[clock_nanosleep]");
    terminal.press("q");
    terminal.expect_last_line("auger [demo_service " + std::to_string(demo_.pid()) +
                              " wall 499 Hz]>");
}

// `auger` alone, in somebody's first minute.
TEST_F(LiveView, BeginsWithAListOfProcesses) {
    Terminal terminal = shell();
    terminal.enter(AUGER_BINARY);
    terminal.expect_window("Which process?");
    terminal.type("demo_serv");
    terminal.expect_window(std::to_string(demo_.pid()));
    terminal.expect_window(" processes: demo_serv");
    terminal.type("zzz");
    terminal.expect_window("0 of ");
    terminal.press("Escape");
    terminal.expect_window("type to filter them");
    terminal.type(std::to_string(demo_.pid()));
    terminal.press("Enter");
    terminal.expect_window("[clock_nanosleep]"); // the live view, of wall-clock time
    terminal.press("q");
    terminal.expect_last_line("auger [demo_service " + std::to_string(demo_.pid()) +
                              " wall 499 Hz]>");
    terminal.enter("quit");
    terminal.expect_last_line("shell>");
    terminal.enter(AUGER_BINARY);
    terminal.expect_window("Which process?");
    terminal.press("C-c");
    terminal.expect_last_line("auger>");
}

// Tab completes as at the prompt, and what was typed there is recalled.
TEST_F(LiveView, HasThePromptsHistoryAndCompletion) {
    Terminal terminal = shell();
    terminal.enter(std::string(AUGER_BINARY) + " --prompt -p " + std::to_string(demo_.pid()));
    terminal.expect_last_line("auger [demo_service " + std::to_string(demo_.pid()) + "]>");
    terminal.enter("sample 997");
    terminal.expect("sampling CPU time at 997 Hz");
    terminal.enter("view");
    terminal.expect_window("997.0 Hz");
    terminal.type(":time handle_req");
    terminal.press("Tab");
    terminal.expect_window(":time handle_request");
    terminal.press("Enter");
    terminal.expect_window("timing handle_request");
    terminal.type(":");
    terminal.press_at_once({"Up", "Up", "Up"});
    terminal.expect_window(":sample 997");
    terminal.press("Escape");
    terminal.press("q");
    terminal.expect_last_line("auger [demo_service " + std::to_string(demo_.pid()) + " 997 Hz]>");
}

// As somebody who has never read the manual: each key is the one that the line of hints names for
// the next step. From all of the service to the one call that is late, and what it waited for.
TEST_F(LiveView, LeadsByKeysAloneToTheCallThatIsToBlame) {
    Terminal terminal = shell();
    terminal.enter(std::string(AUGER_BINARY) + " -p " + std::to_string(demo_.pid()));
    const auto hinted = [&](const std::string& hint, const std::string& key) {
        terminal.expect_window(hint);
        terminal.press(key);
    };
    // At a function whose name may still be being looked for: then the screen says so, and somebody
    // who reads that presses the key again.
    const auto hinted_until = [&](const std::string& hint, const std::string& key,
                                  const std::string& done) {
        terminal.expect_window(hint);
        EXPECT_TRUE(wait_until([&] {
            terminal.press(key);
            std::string window;
            wait_until([&] {
                window = terminal.window();
                return window.find(done) != window.npos || window.find("none yet") != window.npos;
            });
            return window.find(done) != window.npos;
        })) << terminal.window();
    };
    // What is searched for may not have been seen yet.
    const auto search = [&](const std::string& text, const auto& found) {
        terminal.press("/");
        terminal.type(text);
        terminal.press("Enter");
        EXPECT_TRUE(wait_until([&] {
            if (found())
                return true;
            terminal.press("n");
            return false;
        })) << terminal.window();
    };
    // In a list, the cursor is on the row with this.
    const auto at = [&](const std::string& text) {
        const auto lines = lines_of(terminal.window());
        return std::ranges::any_of(lines, [&](const std::string& line) {
            return line.starts_with(">") && line.find(text) != line.npos;
        });
    };
    // Goes down a list, and again from its top, until something is shown.
    const auto find = [&](const std::vector<std::string>& texts) {
        const auto shown = [&] {
            const std::string window = terminal.window();
            return std::ranges::all_of(
                texts, [&](const std::string& text) { return window.find(text) != window.npos; });
        };
        EXPECT_TRUE(wait_until([&] {
            if (shown())
                return true;
            static const std::regex last(R"((\d+) of \1\b)");
            terminal.press(std::regex_search(terminal.window(), last) ? "Home" : "Down");
            return false;
        })) << texts.front()
            << "\n"
            << terminal.window();
    };
    const std::string late = marked_line("demo/quota.cpp", "RECV amount");

    terminal.expect_window("arrows to a function  / finds one  t then times it");
    search("handle_request",
           [&] { return terminal.window().find("t times the function") != std::string::npos; });
    hinted("t times the function under the cursor", "t");
    hinted("s splits by its p95", "s");
    terminal.expect_window("handle_request > p95 = "); // enough calls for a percentile
    hinted("2 shows what slow calls do differently", "2");
    terminal.expect_window("difference ± 95 %");
    search("recvfrom", [&] { return at(" [recvfrom]"); });
    hinted_until("S traces slow calls of this function", "S", // of the one that made the call
                 "tracing calls of libc:recv");
    hinted("4 lists the slow calls", "4");
    hinted("c only those in slow calls", "c");
    find({"fetch_quota  " + late});
    hinted_until("@ the line it was called from", "@", "sites libc:recv");
    EXPECT_TRUE(wait_until([&] { return at(" " + late + " "); })) << terminal.window();
    hinted("S traces slow calls from this line", "S");
    terminal.expect_window("tracing calls of recv@" + late);
    terminal.press("Home");
    terminal.expect_window(" ms  recv@" + late + " ");            // in the list
    find({"\u2502 recv@" + late + " ", "len=8 flags=256 ret=8"}); // beside it
    hinted("Enter in full", "Enter");
    terminal.expect_window("fetch_quota  " + late);
    terminal.expect_window("in a call of handle_request: ");
    // What it waited for: the answer to a question, for 10 ms and more.
    const std::regex waited(
        R"(longest wait [1-9]\d(\.\d)? ms in recvfrom\(\d+\) tcp 127\.0\.0\.1:\d+ -> 127)"),
        asked(R"(fd=\d+ \(tcp 127\.0\.0\.1:\d+ -> 127)");
    EXPECT_TRUE(wait_until([&] {
        const std::string window = terminal.window();
        return std::regex_search(window, waited) && std::regex_search(window, asked);
    })) << terminal.window();
    // All of it was commands, as they can be saved.
    const std::string saved = folder_.path("session.aug");
    terminal.type(":");
    terminal.enter("save " + saved);
    EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(saved); }));
    EXPECT_THAT(content(saved), HasSubstr("sample wall 499"));
    EXPECT_THAT(content(saved), HasSubstr("Call&)\" > p95"));
    EXPECT_THAT(content(saved), HasSubstr("slow libc:recv > "));
    EXPECT_THAT(content(saved), HasSubstr("slow recv@" + late + " > "));
    kill(terminal.pid(), SIGTERM);
}

// A command that auger started writes to the same terminal.
TEST_F(LiveView, IsWrittenAgainOverWhatItsCommandPrints) {
    Terminal terminal = shell();
    terminal.enter(std::string(AUGER_BINARY) +
                   " -- /bin/sh -c 'while sleep 3; do printf all-over; done'");
    terminal.expect_last_line("auger [sh]>");
    terminal.enter("view");
    EXPECT_TRUE(wait_until([&] { return terminal.state("alternate_on") == "1"; }));
    for (int round = 0; round < 2; ++round) {
        terminal.expect_window("all-over");
        terminal.expect_gone("all-over");
    }
}

TEST_F(LiveView, CtrlCEndsWhatRunsAndSaysThatItRuns) {
    Terminal terminal = shell();
    open(terminal);
    terminal.type(":");
    terminal.enter("wait 1h");
    terminal.expect_window("wait 1h   ... (Ctrl-C ends it)");
    terminal.press("C-c");
    terminal.expect_window("interrupted");
    EXPECT_EQ(terminal.state("alternate_on"), "1");
    terminal.expect_gone("(Ctrl-C ends it)");
}

TEST_F(LiveView, IsSuspendedAndContinued) {
    Terminal terminal = shell();
    open(terminal);
    for (int round = 0; round < 2; ++round) {
        terminal.press("C-z");
        terminal.expect_last_line("shell>");
        EXPECT_EQ(terminal.state("alternate_on"), "0");
        EXPECT_EQ(terminal.state("mouse_any_flag"), "0");
        EXPECT_EQ(terminal.state("cursor_flag"), "1");
        terminal.enter("clear; echo in the $((1 + 1))nd shell");
        terminal.expect_window("in the 2nd shell");
        terminal.enter("fg");
        terminal.expect_window("handle_request");
        EXPECT_EQ(terminal.state("alternate_on"), "1");
        EXPECT_EQ(terminal.state("cursor_flag"), "0");
        // Also while a command runs.
        terminal.type(":");
        terminal.enter("wait 1h");
        terminal.expect_window("(Ctrl-C ends it)");
        terminal.press("C-z");
        terminal.expect_last_line("shell>");
        terminal.enter("fg");
        EXPECT_TRUE(wait_until([&] { return terminal.state("alternate_on") == "1"; }));
        EXPECT_TRUE(wait_until([&] {
            terminal.press("C-c");
            return terminal.window().find("interrupted") != std::string::npos ||
                   terminal.state("alternate_on") == "0";
        })) << terminal.window();
        if (terminal.state("alternate_on") == "0")
            terminal.enter("view");
        terminal.expect_window("handle_request");
    }
    kill(terminal.pid(), SIGTERM);
}

} // namespace
} // namespace auger::test
