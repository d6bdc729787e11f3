// SPDX-License-Identifier: GPL-3.0-or-later
// The live view on a program that runs: from its keys alone to the cause.
#include "tests/kernel/program.h"
#include "tests/kernel/source_lines.h"
#include "tests/support/text.h"
#include "tests/support/wait.h"
#include "tests/tui/terminal.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <regex>

namespace auger::test {
namespace {

using testing::HasSubstr;

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
// A thread that does nothing but hit probes spends nearly all of the CPU time that it gets there.
// It gets a third of a CPU or more where two others want it, and the estimate may be off by half.
TEST_F(LiveView, TellsWhatProbesCost) {
    Program program("hot_calls", {"--work", "0"});
    program.wait_ready();
    Terminal terminal = shell();
    terminal.enter(std::string(AUGER_BINARY) + " --prompt -p " + std::to_string(program.pid()));
    terminal.enter("overhead off; exit ret; time hot; view");
    const std::regex overhead(R"(overhead ([0-9.]+) %)");
    EXPECT_TRUE(wait_until([&] {
        const std::string window = terminal.window();
        std::smatch found;
        return std::regex_search(window, found, overhead) && std::stod(found[1]) > 15;
    })) << terminal.window();
}

TEST_F(LiveView, IsWrittenAgainOverWhatItsCommandPrints) {
    Terminal terminal = shell();
    terminal.enter(std::string(AUGER_BINARY) +
                   " -- /bin/sh -c 'while sleep 3; do printf all-over; done'");
    terminal.expect_last_line("auger [sh]>");
    terminal.enter("view");
    EXPECT_TRUE(wait_until([&] { return terminal.state("alternate_on") == "1"; }));
    // Of the terminal's output it is there for good; on the screen for as long as a refresh takes.
    const std::string output = folder_.path("output");
    terminal.copy_output(output);
    const auto printed = [&] {
        const std::string text = content(output);
        size_t times = 0;
        for (size_t at = 0; (at = text.find("all-over", at)) != std::string::npos; at++)
            times++;
        return times;
    };
    for (size_t times = 1; times <= 2; times++) {
        EXPECT_TRUE(wait_until([&] { return printed() >= times; }));
        terminal.expect_gone("all-over");
    }
}

// What is typed, first; then the view.
TEST_F(LiveView, CtrlCEndsALineThatIsTyped) {
    Terminal terminal = shell();
    open(terminal);
    terminal.type(":time handle");
    terminal.expect_last_line(":time handle");
    terminal.press("C-c");
    terminal.expect_gone(":time handle");
    EXPECT_EQ(terminal.state("alternate_on"), "1");
    terminal.press("C-c");
    EXPECT_TRUE(wait_until([&] { return terminal.state("alternate_on") == "0"; }));
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
        // Once: a second Ctrl-C, after the command's end, would leave the view.
        terminal.press("C-c");
        terminal.expect_window("interrupted");
        EXPECT_EQ(terminal.state("alternate_on"), "1");
        terminal.expect_window("handle_request");
    }
    kill(terminal.pid(), SIGTERM);
}

} // namespace
} // namespace auger::test
