// SPDX-License-Identifier: GPL-3.0-or-later
// What was typed in one session is there in the next, and belongs to who typed it.
#include "tests/tui/terminal.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace auger::test {
namespace {

class History : public TerminalTest {
  protected:
    // What was on the screen in the end.
    std::string session(const std::vector<std::string>& lines, std::vector<std::string> command) {
        Terminal terminal(folder_, command);
        terminal.expect_last_line("auger>");
        for (const std::string& line : lines)
            terminal.enter(line);
        terminal.enter("quit");
        EXPECT_EQ(terminal.wait_exit(), 0);
        return terminal.screen();
    }
    std::string content() const {
        std::ifstream file(folder_.path("state/auger/history"));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    struct stat status_of(const std::string& name) const {
        struct stat status = {};
        EXPECT_EQ(lstat(folder_.path(name).c_str(), &status), 0) << name;
        return status;
    }
};

TEST_F(History, IsKeptBetweenSessions) {
    session({"echo first", "echo second ", " echo secret", "echo second"},
            {AUGER_BINARY, "--prompt"});
    EXPECT_EQ(content(), "echo first\necho second\nquit\n");
    EXPECT_EQ(status_of("state/auger/history").st_mode & 07777, 0600u);
    EXPECT_EQ(status_of("state/auger").st_mode & 07777, 0700u);
    EXPECT_EQ(status_of("state/auger/history").st_uid, geteuid());

    Terminal terminal(folder_, {AUGER_BINARY, "--prompt"});
    terminal.expect_last_line("auger>");
    for (const char* line : {"quit", "echo second", "echo first"}) {
        terminal.press("Up");
        terminal.expect_last_line(std::string("auger> ") + line);
    }
    terminal.press("Enter");
    terminal.expect("\nfirst\n");
    terminal.enter("quit");
    EXPECT_EQ(terminal.wait_exit(), 0);
    EXPECT_EQ(content(), "echo first\necho second\nquit\necho first\nquit\n");
}

TEST_F(History, UnderSudoIsTheInvokingUsers) {
    constexpr uid_t nobody = 65534;
    ASSERT_EQ(mkdir(folder_.path("state").c_str(), 0700), 0);
    ASSERT_EQ(chown(folder_.path("state").c_str(), nobody, nobody), 0);
    session({"echo mine"}, {"/usr/bin/env", "SUDO_UID=65534", "SUDO_GID=65534", "SUDO_USER=nobody",
                            AUGER_BINARY, "--prompt"});
    EXPECT_EQ(content(), "echo mine\nquit\n");
    EXPECT_EQ(status_of("state/auger").st_uid, nobody);
    EXPECT_EQ(status_of("state/auger/history").st_uid, nobody);
    EXPECT_EQ(status_of("state/auger/history").st_mode & 07777, 0600u);
}

TEST_F(History, ThatCannotBeKeptIsSaid) {
    folder_.file("state", "a file where a folder should be");
    EXPECT_THAT(session({"echo mine"}, {AUGER_BINARY, "-e", "echo begins"}),
                testing::AllOf(testing::HasSubstr("warning: read history"),
                               testing::HasSubstr("quit\nwarning: make folder")));
    // Where everything went well nothing is said.
    ASSERT_TRUE(std::filesystem::remove(folder_.path("state")));
    EXPECT_THAT(session({"echo mine"}, {AUGER_BINARY, "--prompt"}),
                testing::Not(testing::HasSubstr("warning")));
}

} // namespace
} // namespace auger::test
