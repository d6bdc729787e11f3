// SPDX-License-Identifier: GPL-3.0-or-later
// The manual page and the completion say what the tables say, and nothing in them is taken for a
// request of troff's or a command of the shell's.
#include "repl/commands/bash_completion.h"
#include "repl/commands/manual_page.h"
#include "repl/commands/table.h"
#include "tests/support/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace auger {
namespace {

using testing::HasSubstr;

const std::vector<ProgramOption> options = {{"-p,--pid", "PID[,PID...]", "Observe these"},
                                            {"--json", "", "One object a line"},
                                            {"--record", "FILE", "Write to a file"},
                                            {"--sysroot", "DIR", "Files"},
                                            {"--exit", "WAY", "How"}};

TEST(ManualPage, HasEveryCommandAndOption) {
    const std::string page = manual_page("auger 1", "auger -p PID", options, ".not a request\n");
    for (const CommandRow& row : command_table().rows())
        EXPECT_THAT(page, HasSubstr(".TP\n\\fB" + std::string(row.name))) << row.name;
    EXPECT_THAT(page, HasSubstr("\\fB\\-p\\fR, \\fB\\-\\-pid\\fR \\fIPID[,PID...]\\fR\n"));
    EXPECT_THAT(page, HasSubstr("\n\\&.not a request"));
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('.'))
            continue;
        const std::string request = line.substr(0, line.find(' '));
        EXPECT_THAT((std::vector<std::string>{".TH", ".SH", ".SS", ".TP", ".IP", ".nf", ".fi",
                                              ".RS", ".RE"}),
                    testing::Contains(request));
    }
}

TEST(BashCompletion, KnowsWhatStandsWhere) {
    const auto complete = [](const std::string& words, int at) {
        return test::run({"/bin/bash", "-c",
                          bash_completion(options) + "COMP_WORDS=(" + words + "); COMP_CWORD=" +
                              std::to_string(at) + "; _auger; echo \"${COMPREPLY[@]}\""})
            .out;
    };
    EXPECT_EQ(complete("auger --", 1), "--pid --json --record --sysroot --exit\n");
    EXPECT_EQ(complete("auger --exit tr", 2), "trampoline\n");
    EXPECT_EQ(complete("auger --record /etc/passw", 2).find("/etc/passwd"), 0u);
    EXPECT_EQ(complete("auger --sysroot /et", 2), "/etc\n");
    EXPECT_THAT(complete("auger -p ''", 2), HasSubstr(std::to_string(getpid())));
    EXPECT_THAT(complete("auger -- bas", 2), HasSubstr("bash"));
}

} // namespace
} // namespace auger
