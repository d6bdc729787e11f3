// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt as its user meets it: completion, mistakes, pasting, Ctrl-C, resizing, and what
// happens while something is being typed.
#include "tests/kernel/program.h"
#include "tests/support/wait.h"
#include "tests/tui/terminal.h"

#include <gmock/gmock.h>

#include <csignal>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

class Prompt : public TerminalTest {
  protected:
    // auger on the demo service, once it shows its prompt.
    Terminal observe(const Program& demo) const {
        Terminal terminal(folder_, {AUGER_BINARY, "--prompt", "-p", std::to_string(demo.pid())});
        terminal.expect_last_line(prompt(demo));
        return terminal;
    }
    static std::string prompt(const Program& demo, const std::string& typed = "") {
        return "auger [demo_service " + std::to_string(demo.pid()) + "]>" +
               (typed.empty() ? "" : " " + typed);
    }
};

TEST_F(Prompt, TabCompletesCommandsFunctionsProbesAndFiles) {
    Program demo("demo_service", {"--seconds", "300"});
    demo.wait_ready();
    Terminal terminal = observe(demo);

    terminal.type("tim");
    terminal.press("Tab");
    terminal.expect_last_line(prompt(demo, "time"));
    terminal.type("handle_re"); // the blank came with the command
    terminal.press("Tab");
    terminal.expect_last_line(prompt(demo, "time handle_request"));
    terminal.press("Enter");
    terminal.expect("timing handle_request (probe 1)");

    terminal.type("hist ");
    terminal.press("Tab"); // of the one probe
    terminal.expect_last_line(prompt(demo, "hist handle_request"));
    terminal.press("C-c");
    terminal.expect_last_line(prompt(demo));

    terminal.type("w");
    terminal.press("Tab");
    terminal.press("Tab");
    terminal.expect("\nwait    window\n");
    terminal.press("C-c");
    terminal.expect_last_line(prompt(demo));

    const std::string script = folder_.file("commands.aug", "echo from the file\n");
    terminal.type("source " + script.substr(0, script.size() - 5));
    terminal.press("Tab");
    terminal.press("Enter");
    terminal.expect("\nfrom the file\n");
}

TEST_F(Prompt, MistakesAreShownWhereTheyAre) {
    Program demo("demo_service", {"--seconds", "300"});
    demo.wait_ready();
    Terminal terminal = observe(demo);
    terminal.enter("echo a; spltt handle_request");
    terminal.expect("\nerror: there is no command \"spltt\"\n"
                    "    echo a; spltt handle_request\n"
                    "            ^~~~~\n"
                    "  did you mean \"split\"?\n" +
                    prompt(demo));
    terminal.enter("time handle_reqest");
    terminal.expect("\nerror: find function handle_reqest: no such function\n"
                    "    time handle_reqest\n"
                    "         ^~~~~~~~~~~~~\n"
                    "  did you mean handle_request");
}

TEST_F(Prompt, APasteRunsWhenItIsEntered) {
    Terminal terminal(folder_, {AUGER_BINARY, "--prompt"});
    terminal.expect_last_line("auger>");
    terminal.paste("echo one\necho two\nspltt\necho three\n");
    terminal.expect("echo three");
    EXPECT_THAT(terminal.screen(), testing::Not(HasSubstr("\none\n"))) << "ran unasked";
    terminal.press("Enter");
    terminal.expect("\none\ntwo\nerror: there is no command \"spltt\"\n");
    terminal.enter("echo four");
    terminal.expect("\nfour\nauger>");
    EXPECT_THAT(terminal.screen(), testing::Not(HasSubstr("\nthree\n"))) << "ran after a mistake";
}

TEST_F(Prompt, CtrlCEndsTheCommandAndNotTheProgram) {
    Program demo("demo_service", {"--seconds", "300"});
    demo.wait_ready();
    Terminal terminal = observe(demo);
    terminal.enter("time handle_request; echo waiting; wait 1h");
    terminal.expect("\nwaiting\n");
    terminal.press("C-c");
    terminal.expect("error: interrupted\n");
    // Probes are where they were.
    terminal.enter("wait until calls handle_request > 0; echo still here");
    terminal.expect("\nstill here\n" + prompt(demo));
    // Without a command, the line is dropped.
    terminal.type("no command at all");
    terminal.expect_last_line(prompt(demo) + " no command at all");
    // However fast one types.
    terminal.press_at_once({"C-c", "echo next", "Enter"});
    terminal.expect("\nnext\n");
}

size_t width_of_status(const Terminal& terminal) {
    std::istringstream lines(terminal.screen());
    size_t width = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("status  ") && line.find("window all") != line.npos)
            width = line.size();
    }
    return width;
}

TEST_F(Prompt, ResizingKeepsTheLineAndWidensTheViews) {
    Terminal terminal(folder_, {AUGER_BINARY, "--prompt"});
    terminal.expect_last_line("auger>");
    terminal.type("stat");
    terminal.resize(140, 30);
    terminal.enter("us");
    EXPECT_TRUE(wait_until([&] { return width_of_status(terminal) == 140; })) << terminal.screen();
    terminal.expect_last_line("auger>");
    terminal.type("sta");
    terminal.resize(90, 20);
    terminal.enter("tus");
    EXPECT_TRUE(wait_until([&] { return width_of_status(terminal) == 90; })) << terminal.screen();
}

// The target ends while its user is typing: that is said above the line, the line stays, and
// everything collected is still there, to the last call.
TEST_F(Prompt, ATargetThatEndsLeavesTheLineAndWhatWasCollected) {
    constexpr int calls = 300;
    Program demo("demo_service", {"--wait", "--calls", std::to_string(calls)});
    demo.wait_ready();
    Terminal terminal = observe(demo);
    terminal.enter("time handle_request");
    terminal.expect("timing handle_request (probe 1)");
    terminal.type("assert calls handle_request ==");
    terminal.expect_last_line(prompt(demo, "assert calls handle_request =="));
    demo.go();
    const auto account = demo.account();
    ASSERT_EQ(demo.wait_exit(), 0);
    ASSERT_EQ(account["calls"], calls);
    // The process's name, though another thread was the last one.
    terminal.expect("\ndemo_service (" + std::to_string(demo.pid()) + "): exited\n" +
                    prompt(demo, "assert calls handle_request =="));
    const std::string screen = terminal.screen();
    EXPECT_EQ(screen.find("assert calls"), screen.rfind("assert calls")) << "shown twice\n"
                                                                         << screen;
    terminal.enter(" " + std::to_string(calls));
    terminal.expect("holds: calls handle_request == 300");
    terminal.enter("hist handle_request");
    terminal.expect("300 calls: 300 returned, 0 unwound, 0 open now, 0 dropped");
    terminal.enter("status");
    terminal.expect("300 entries = 300 returns + 0 unwound + 0 open + 0 dropped");
}

} // namespace
} // namespace auger::test
