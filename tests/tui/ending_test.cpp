// SPDX-License-Identifier: GPL-3.0-or-later
// Every way in which a session ends or pauses: the exit code, a usable terminal, and nothing left
// in the kernel or in the target, which never notices.
#include "tests/kernel/program.h"
#include "tests/support/bpf_objects.h"
#include "tests/support/children.h"
#include "tests/support/process_rights.h"
#include "tests/support/wait.h"
#include "tests/tui/terminal.h"

#include <csignal>
#include <fstream>
#include <vector>

namespace auger::test {
namespace {

class Ending : public TerminalTest {
  protected:
    void SetUp() override {
        TerminalTest::SetUp();
        if (!IsSkipped())
            demo_.wait_ready();
    }
    std::string prompt() const {
        return "auger [demo_service " + std::to_string(demo_.pid()) + "]>";
    }
    // auger with a probe on the demo service, at its prompt. auger is the terminal's own command.
    Terminal observe() {
        Terminal terminal(folder_, {AUGER_BINARY, "-p", std::to_string(demo_.pid()), "-e",
                                    "time handle_request"});
        terminal.expect_last_line(prompt());
        held_ = BpfObjects::held_by(terminal.pid());
        EXPECT_GE(held_.programs.size(), 8u);
        EXPECT_GE(held_.links.size(), 6u);
        return terminal;
    }
    void start_waiting(Terminal& terminal) {
        terminal.enter("echo waiting; wait 1h");
        terminal.expect("\nwaiting\n");
    }
    void expect_nothing_left() {
        EXPECT_TRUE(held_.wait_gone());
        demo_.signal(SIGTERM);
        EXPECT_TRUE(demo_.account()["ok"].get<bool>());
        EXPECT_EQ(demo_.wait_exit(), 0);
    }

    Program demo_{"demo_service", {"--seconds", "300"}};
    BpfObjects held_;
};

// What puts the terminal back has it, and nothing else.
TEST_F(Ending, TheGuardianHasNoRights) {
    Terminal terminal = observe();
    std::vector<ProcessRights> guardians;
    const auto look = [&] {
        guardians.clear();
        for (const pid_t pid : children_of(terminal.pid()))
            if (const ProcessRights rights = rights_of(pid); rights.name == "auger-guardian")
                guardians.push_back(rights);
    };
    // It names itself, and then gives up what it has, once it runs.
    wait_until([&] {
        look();
        return guardians.size() == 1 && guardians[0].bounding == 0 && !guardians[0].may_gain;
    });
    ASSERT_EQ(guardians.size(), 1u);
    EXPECT_EQ(guardians[0].permitted, 0u);
    EXPECT_EQ(guardians[0].effective, 0u);
    EXPECT_EQ(guardians[0].bounding, 0u);
    EXPECT_FALSE(guardians[0].may_gain);
    terminal.press("C-d");
    EXPECT_EQ(terminal.wait_exit(), 0);
    expect_nothing_left();
}

TEST_F(Ending, CtrlD) {
    Terminal terminal = observe();
    terminal.press("C-d");
    EXPECT_EQ(terminal.wait_exit(), 0);
    expect_nothing_left();
}

TEST_F(Ending, Quit) {
    Terminal terminal = observe();
    terminal.enter("quit");
    EXPECT_EQ(terminal.wait_exit(), 0);
    expect_nothing_left();
}

TEST_F(Ending, TerminatedAtThePrompt) {
    Terminal terminal = observe();
    terminal.type("half a li");
    kill(terminal.pid(), SIGTERM);
    EXPECT_EQ(terminal.wait_exit(), 0);
    expect_nothing_left();
}

TEST_F(Ending, TerminatedInACommand) {
    Terminal terminal = observe();
    start_waiting(terminal);
    kill(terminal.pid(), SIGTERM);
    EXPECT_EQ(terminal.wait_exit(), 0);
    expect_nothing_left();
}

TEST_F(Ending, TerminalClosedAtThePrompt) {
    Terminal terminal = observe();
    const pid_t auger = terminal.pid();
    terminal.close();
    EXPECT_TRUE(wait_gone(auger));
    expect_nothing_left();
}

TEST_F(Ending, TerminalClosedInACommand) {
    Terminal terminal = observe();
    start_waiting(terminal);
    const pid_t auger = terminal.pid();
    terminal.close();
    EXPECT_TRUE(wait_gone(auger));
    expect_nothing_left();
}

TEST_F(Ending, Killed) {
    Terminal terminal = observe();
    kill(terminal.pid(), SIGKILL);
    EXPECT_EQ(terminal.wait_exit(), 128 + SIGKILL);
    expect_nothing_left();
}

// A command that auger started ends with it.
TEST_F(Ending, OfACommandThatAugerStarted) {
    Terminal terminal(folder_,
                      {AUGER_BINARY, "--", program_path("demo_service"), "--seconds", "300"});
    terminal.expect("ready ");
    const std::string screen = terminal.screen();
    const pid_t command = std::stoi(screen.substr(screen.find("ready ") + 6));
    ASSERT_EQ(kill(command, 0), 0);
    const pid_t auger = terminal.pid();
    terminal.close();
    EXPECT_TRUE(wait_gone(auger));
    EXPECT_TRUE(wait_gone(command));
}

class Paused : public Ending {
  protected:
    // auger as a job of an interactive shell.
    Terminal observe_in_shell() {
        Terminal terminal(folder_, {"/bin/bash", "--norc", "--noprofile", "-i"});
        terminal.enter("PS1='shell> '");
        terminal.expect_last_line("shell>");
        terminal.enter(std::string(AUGER_BINARY) + " --prompt -p " + std::to_string(demo_.pid()));
        terminal.expect_last_line(prompt());
        return terminal;
    }
};

TEST_F(Paused, AtThePromptAndBack) {
    Terminal terminal = observe_in_shell();
    terminal.type("echo ha");
    terminal.expect_last_line(prompt() + " echo ha");
    terminal.press("C-z");
    terminal.expect("Stopped");
    terminal.expect_last_line("shell>");
    terminal.enter("echo in the shell");
    terminal.expect("\nin the shell\n");
    terminal.enter("fg");
    terminal.expect_last_line(prompt() + " echo ha");
    terminal.enter("lf");
    terminal.expect("\nhalf\n");
    terminal.press("C-d");
    terminal.expect_last_line("shell>");
    // The shell's terminal is as it was: what is typed is shown, and lines are edited by the
    // kernel.
    terminal.enter(
        "stty -a | tr ' ;' '\\n' | grep -xE -e '-?(echo|icanon|isig)' | sort | tr '\\n' _");
    terminal.expect("echo_icanon_isig_");
}

TEST_F(Paused, InACommandAndBack) {
    Terminal terminal = observe_in_shell();
    start_waiting(terminal);
    terminal.press("C-z");
    terminal.expect("Stopped");
    terminal.expect_last_line("shell>");
    terminal.enter("fg");
    terminal.expect("shell> fg\n/"); // it repeats the command
    // The first ones may still reach the shell, which does not mind.
    EXPECT_TRUE(wait_until([&] {
        terminal.press("C-c");
        return terminal.screen().find("error: interrupted") != std::string::npos;
    })) << terminal.screen();
    terminal.enter("time handle_request; wait until calls handle_request > 10; echo it goes on");
    terminal.expect("\nit goes on\n");
}

} // namespace
} // namespace auger::test
