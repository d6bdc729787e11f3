// SPDX-License-Identifier: GPL-3.0-or-later
// Every call is counted once, however it ends, and no target is harmed: programs that count their own
// calls are compared with what the kernel programs counted.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gtest/gtest.h>

namespace auger::test {
namespace {

struct Case {
    std::string program;
    std::vector<std::string> arguments;
};

void PrintTo(const Case& test, std::ostream* out) {
    *out << test.program;
}

class Accounting : public testing::TestWithParam<std::tuple<Case, LiveOptions::Attach>> {};

TEST_P(Accounting, CallsEqualTheProgramsOwnCount) {
    const auto& [test, attach] = GetParam();
    auto arguments = test.arguments;
    arguments.push_back("--wait");
    Program program(test.program, arguments);
    program.wait_ready();

    Session session({attach});
    session.observe(program.pid());
    std::map<std::string, ProbeId> probes;
    // The names are known only from the account, so an instance of the program gives one first.
    Program rehearsal(test.program, {"--calls", "1"});
    nlohmann::json names = rehearsal.account();
    for (const auto& [name, counts] : names["functions"].items())
        probes[name] = session.time(name);

    program.go();
    session.pump_to_end();
    nlohmann::json truth = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_TRUE(truth["ok"].get<bool>()) << truth;
    for (const auto& [name, counts] : truth["functions"].items()) {
        SCOPED_TRACE(name);
        Calls calls = session.calls(probes.at(name));
        EXPECT_EQ(calls.entries, counts["entries"].get<uint64_t>());
        EXPECT_EQ(calls.returns, counts["returns"].get<uint64_t>());
        EXPECT_EQ(calls.unwound, counts["unwound"].get<uint64_t>());
        EXPECT_EQ(calls.open, 0);
        EXPECT_EQ(calls.dropped, 0u);
        EXPECT_TRUE(calls.add_up());
    }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Accounting,
    testing::Combine(testing::Values(Case{"exceptions", {"--calls", "200"}},
                                     Case{"longjmps", {"--calls", "200"}},
                                     Case{"coroutines", {"--calls", "100"}},
                                     Case{"cancels", {"--calls", "50"}},
                                     Case{"tailcalls", {"--calls", "300"}},
                                     Case{"signals", {"--calls", "100"}}),
                     testing::Values(LiveOptions::Attach::multi)),
    [](const auto& info) { return std::get<0>(info.param).program + "_multi"; });

} // namespace
} // namespace auger::test
