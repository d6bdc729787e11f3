// SPDX-License-Identifier: GPL-3.0-or-later
// Edits change what the kernel programs do while they run: every attachment stays, no count is
// lost.
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"

#include <gmock/gmock.h>

namespace auger::test {
namespace {

constexpr Threshold fixed(uint64_t ns) {
    return {Threshold::Kind::fixed, ns, 0};
}
constexpr Threshold percentile(double p) {
    return {Threshold::Kind::percentile, 0, p};
}

class Edits : public WaysTest<LiveOptions::Attach> {};

TEST_P(Edits, KeepEveryAttachmentAndEveryCount) {
    Program program("recursion", {"--threads", "2", "--depth", "3", "--sleep-us", "50",
                                  "--pause-us", "0", "--seconds", "60", "--wait"});
    program.wait_ready();
    Session session({GetParam()});
    Backend& backend = session.backend();
    session.observe(program.pid());
    ProbeId probe = session.time("descend");
    session.sample(999);
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns > 100; }));

    const std::vector<uint64_t> links = backend.links();
    EXPECT_THAT(links, testing::Each(testing::Gt(0u)));
    EXPECT_GE(links.size(), 6u);
    const std::vector<std::function<Result<void>()>> edits = {
        [&] { return backend.set_slow(probe, fixed(100'000)); },
        [&] { return backend.set_slow(probe, percentile(95)); },
        [&] { return backend.set_slow(probe, fixed(0)); },
        [&] { return backend.set_slow(probe, {}); },
        [&] {
            return backend.set_sampling({99, false});
        },
        [&] {
            return backend.set_sampling({9'999, false});
        },
        [&] {
            return backend.set_sampling({0, false});
        },
        [&] {
            return backend.set_sampling({999, false});
        },
        [&] {
            return backend.set_filter({{program.pid()}, {}, {}, {}});
        },
        [&] {
            return backend.set_filter({{}, {}, {"descend-0", "descend-1"}, {}});
        },
        [&] { return backend.set_filter({}); },
        [&] {
            return backend.set_split({true, probe, percentile(95), false});
        },
        [&] {
            return backend.set_split({true, probe, fixed(100'000), true});
        },
        [&] { return backend.set_split({}); },
        [&] { return backend.set_way_out(WayOut::ret); },
        [&] { return backend.set_way_out(WayOut::trampoline); },
    };
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < edits.size(); i++) {
            Calls before = session.calls(probe);
            must(edits[i]());
            ASSERT_TRUE(session.pump_until([&] {
                return session.calls(probe).returns > before.returns + 50;
            })) << "after edit "
                << i;
            EXPECT_EQ(backend.links(), links) << "after edit " << i;
        }
    }
    program.signal(SIGTERM);
    session.pump_to_end();
    nlohmann::json truth = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_TRUE(truth["ok"].get<bool>());

    Calls calls = session.calls(probe);
    EXPECT_EQ(calls.entries, truth["functions"]["descend"]["entries"].get<uint64_t>());
    EXPECT_EQ(calls.returns, calls.entries);
    EXPECT_EQ(calls.unwound + calls.dropped, 0u);
    EXPECT_EQ(calls.open, 0);
    // The samples of all rates that were in force are there.
    session.expect_samples_add_up();
}

INSTANTIATE_TEST_SUITE_P(Ways, Edits,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return info.param == LiveOptions::Attach::multi ? "multi" : "perf";
                         });

// A refused edit leaves in force what was.
TEST_F(KernelTest, RefusedEditsChangeNothing) {
    Program program("recursion", {"--calls", "50", "--wait"});
    program.wait_ready();
    Session session;
    Backend& backend = session.backend();
    session.observe(program.pid());
    ProbeId probe = session.time("descend");
    session.sample(999);
    session.filter({{program.pid()}, {}, {}, {}});
    const std::vector<uint64_t> links = backend.links();

    EXPECT_FALSE(backend.set_sampling({50'000, false}));
    EXPECT_FALSE(backend.set_filter({{}, {}, {"a name of more than 15 bytes"}, {}}));
    EXPECT_FALSE(backend.set_filter({{1}, {}, {}, {"/no/such/cgroup"}}));
    EXPECT_FALSE(backend.set_slow(ProbeId{99}, fixed(1)));
    EXPECT_FALSE(backend.add_probe({ProbeId{50}, "no_such_function", {}}));
    EXPECT_FALSE(backend.add_probe({ProbeId{51}, "descend+0x2", {}}));
    EXPECT_FALSE(backend.remove_probe(ProbeId{99}));
    TargetSpec nobody;
    nobody.kind = TargetSpec::Kind::pids;
    nobody.pids = {0x7ffffff0};
    EXPECT_FALSE(backend.set_target(nobody));

    EXPECT_EQ(backend.links(), links);
    program.go();
    session.pump_to_end();
    nlohmann::json truth = program.account();
    EXPECT_EQ(session.calls(probe).returns,
              truth["functions"]["descend"]["returns"].get<uint64_t>());
    EXPECT_GT(session.model().ledger().ticks, 0u);
    EXPECT_EQ(session.model().ledger().rate_hz, 999u);
}

} // namespace
} // namespace auger::test
