// SPDX-License-Identifier: GPL-3.0-or-later
// The live view at its terminal: how it opens, sizes, is suspended and left; and that the terminal
// is as it was afterwards, whatever happens. What it shows and what keys mean is tested without a
// terminal.
#include "tests/kernel/program.h"
#include "tests/support/run.h"
#include "tests/support/text.h"
#include "tests/support/wait.h"
#include "tests/tui/terminal.h"

#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::Not;

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
        // What is printed before the view opens may have the name, too.
        EXPECT_TRUE(wait_until([&] { return terminal.state("alternate_on") == "1"; }));
        terminal.expect_window("handle_request");
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
    terminal.press("Escape"); // one too many
    terminal.expect_window("q goes to the prompt");
    terminal.press("q");
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

// How many characters of the rows of `after` are not in the same rows of `before`.
size_t fresh_characters(const std::string& before, const std::string& after) {
    const auto is_inside = [](char c) { return (c & 0xc0) == 0x80; }; // of a character of several
    std::istringstream old_rows(before), new_rows(after);
    size_t fresh = 0;
    for (std::string old_row, new_row; std::getline(new_rows, new_row); old_row.clear()) {
        std::getline(old_rows, old_row);
        std::array<int, 256> had{};
        for (const char c : old_row)
            had[static_cast<unsigned char>(c)]++;
        for (const char c : new_row)
            fresh += c != ' ' && !is_inside(c) && had[static_cast<unsigned char>(c)]-- <= 0;
    }
    return fresh;
}

// Or it would flicker, and be slow over a network.
TEST_F(View, WritesOnlyTheCellsThatChanged) {
    Terminal terminal = replay(record());
    expect_open(terminal);
    // To its terminal, and little else, by the kernel's account: what is on the screen is in it.
    const auto written = [&] {
        std::ifstream io("/proc/" + std::to_string(terminal.pid()) + "/io");
        for (std::string name; io >> name;)
            if (size_t bytes = 0; name == "wchar:" && io >> bytes)
                return bytes;
        ADD_FAILURE() << "its input and output are not told";
        return size_t{0};
    };
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
    // And what does change is seen in what is written: each row's characters that were not in it
    // before, if only at another place, are sent one by one. (Blanks are erased by the row.)
    const std::string before = terminal.window();
    terminal.press("2");
    terminal.expect_window("[2 difference]");
    const size_t changed = press_and_see("Home", 1, "other");
    const size_t fresh = fresh_characters(before, terminal.window());
    EXPECT_GT(fresh, 0u);
    EXPECT_GE(changed - still, fresh);
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
    // It names itself once it runs.
    ASSERT_TRUE(wait_until([&] {
        return content("/proc/" + std::to_string(guardian) + "/comm") == "auger-guardian\n";
    }));
    ASSERT_EQ(kill(guardian, SIGKILL), 0);
    ASSERT_TRUE(wait_gone(guardian));
    ASSERT_EQ(kill(auger, GetParam()), 0);
    expect_restored(terminal);
}

INSTANTIATE_TEST_SUITE_P(Of, ViewEndingAlone,
                         testing::Values(SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGQUIT),
                         [](const auto& info) { return std::string(sigabbrev_np(info.param)); });

} // namespace
} // namespace auger::test
