// SPDX-License-Identifier: GPL-3.0-or-later
// Edits change what the kernel programs do while they run: every attachment stays, no count is
// lost.
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

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
    // What must be seen of calls and samples that come after an edit. The program's calls take 50
    // us a level at least, of which there are three.
    const uint64_t always = 0, never = UINT64_MAX;
    struct Edit {
        std::function<Result<void>()> make;
        std::optional<uint64_t> slow_over = {}; // calls are told that took longer, and no others
        std::optional<bool> samples = {};
    };
    const std::vector<Edit> edits = {
        {[&] { return backend.set_slow(probe, fixed(100'000)); }, 100'000},
        {[&] { return backend.set_slow(probe, percentile(95)); }},
        {[&] { return backend.set_slow(probe, fixed(0)); }, always},
        {[&] { return backend.set_slow(probe, {}); }, never},
        {[&] {
             return backend.set_sampling({99, false});
         },
         {},
         true},
        {[&] {
             return backend.set_sampling({9'999, false});
         },
         {},
         true},
        {[&] {
             return backend.set_sampling({0, false});
         },
         {},
         false},
        {[&] {
             return backend.set_sampling({999, false});
         },
         {},
         true},
        // Filters by which everything passes: those that leave something out have tests of their
        // own, and here every call is to be counted.
        {[&] {
            return backend.set_filter({{program.pid()}, {}, {}, {}});
        }},
        {[&] {
            return backend.set_filter({{}, {}, {"descend-0", "descend-1"}, {}});
        }},
        {[&] { return backend.set_filter({}); }},
        {[&] {
            return backend.set_split({true, probe, percentile(95), false});
        }},
        {[&] {
            return backend.set_split({true, probe, fixed(100'000), true});
        }},
        {[&] { return backend.set_split({}); }},
        {[&] { return backend.set_way_out(WayOut::ret); }},
        {[&] { return backend.set_way_out(WayOut::trampoline); }},
    };
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < edits.size(); i++) {
            SCOPED_TRACE("edit " + std::to_string(i));
            const Edit& edit = edits[i];
            Calls before = session.calls(probe);
            must(edit.make());
            const uint64_t since = backend.now_ns();
            session.log.slow_calls.clear();
            const auto told = [&] {
                return std::ranges::count_if(session.log.slow_calls, [&](const auto& call) {
                    return call.end.time_ns > since;
                });
            };
            const auto sampled = [&] {
                return std::ranges::any_of(session.log.samples, [&](const SampleEvent& sample) {
                    return sample.time_ns > since;
                });
            };
            ASSERT_TRUE(session.pump_until([&] {
                return session.calls(probe).returns > before.returns + 500 &&
                       (!edit.slow_over || *edit.slow_over == never || told() > 0) &&
                       (!edit.samples || !*edit.samples || sampled());
            }));
            if (edit.slow_over == never) {
                EXPECT_EQ(told(), 0);
            }
            for (const auto& call : session.log.slow_calls) {
                if (edit.slow_over && call.end.time_ns > since) {
                    EXPECT_GT(call.end.duration_ns, *edit.slow_over);
                }
            }
            if (edit.samples == false) {
                EXPECT_FALSE(sampled());
            }
            EXPECT_EQ(backend.links(), links);
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
