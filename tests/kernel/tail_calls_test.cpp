// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that end by a jump are timed until their caller goes on: the program knows how long
// what they jump to takes at least, and measures each call itself.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>

namespace auger::test {
namespace {

class TailCalls : public KernelTest {};

TEST_F(TailCalls, AreTimedThroughTheJump) {
    Program program("tail_times", {"--calls", "100", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(WayOut::ret));
    std::map<std::string, ProbeId> probes;
    for (const char* name : {"forward", "chain", "outward", "throwing", "sleeper"}) {
        probes[name] = session.time(name);
        EXPECT_EQ(session.report.places.size(), 1u);
    }
    EXPECT_THAT(session.report.places[0].note, testing::Not(testing::HasSubstr("jump")));
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    for (const auto& [name, truth] : account["functions"].items()) {
        SCOPED_TRACE(name);
        const Calls calls = session.calls(probes.at(name));
        EXPECT_EQ(calls.entries, truth["entries"].get<uint64_t>());
        EXPECT_EQ(calls.returns, truth["returns"].get<uint64_t>());
        EXPECT_EQ(calls.unwound, truth["unwound"].get<uint64_t>());
        EXPECT_EQ(calls.open, 0);
        EXPECT_EQ(calls.dropped, 0u);
        // Half of forward's calls come from chain, by a jump: nobody knows where they come back to.
        const CallStatistics statistics = session.model().probe_statistics(probes.at(name));
        const auto longest = account["longest_ns"][name].get<uint64_t>();
        if (name == "forward" || name == "sleeper")
            continue;
        EXPECT_GE(statistics.min_ns, account["shortest_ns"].get<uint64_t>());
        EXPECT_LE(statistics.max_ns, longest);
    }
    EXPECT_GE(session.model().probe_statistics(probes.at("forward")).max_ns,
              account["shortest_ns"].get<uint64_t>());
}

} // namespace
} // namespace auger::test
