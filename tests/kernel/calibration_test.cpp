// SPDX-License-Identifier: GPL-3.0-or-later
// What observing costs is measured on auger's own threads, whatever the target and the filter are,
// and nothing of it is taken for the target's.
#include "loader/kernel/features.h"
#include "loader/kernel/hit_costs.h"
#include "loader/kernel/off_cpu.h"
#include "loader/kernel/spec_table.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <memory>

namespace auger::test {
namespace {

class Calibration : public KernelTest {
  protected:
    // Nobody is in the target, and nobody passes the filter.
    static std::unique_ptr<Programs> load_for_nobody() {
        auto programs = must(Programs::load({}));
        programs->config().filter = uint64_t{1} << WIRE_FILTER_GENERATION_SHIFT | WIRE_FILTER_PID;
        programs->renew_scope();
        return programs;
    }
};

// Two threads of auger's own hand words to each other by read() and write() while it is measured
// what sampling waits costs, some thousand times; the target does nothing.
TEST_F(Calibration, IsNoCallOfTheTargets) {
    Program program("system_calls", {"--calls", "1", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId writes = session.time("libc:write"),
                  switches = session.time("tracepoint:sched:sched_switch");
    session.sample(999);
    must(session.backend().set_sampling({999, true}));
    EXPECT_EQ(session.calls(writes).entries, 0u);
    EXPECT_EQ(session.calls(switches).entries, 0u);
    EXPECT_EQ(session.model().samples().size(), 0u);
    // They do see the target.
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_GT(session.calls(writes).entries, 0u);
    EXPECT_GT(session.calls(switches).entries, 0u);
}

TEST_F(Calibration, OfWaitsMeasuresWaitsThatAreObserved) {
    const auto programs = load_for_nobody();
    (void)must(OffCpu::make(*programs));
    const wire_wait_stats stats = programs->wait_stats();
    EXPECT_GT(stats.own_ns, 0u);
    EXPECT_EQ(stats.waits, 0u);
}

TEST_F(Calibration, OfCallsMeasuresCallsThatAreObserved) {
    const auto programs = load_for_nobody();
    SpecTable specs(*programs);
    const HitCosts costs =
        measure_hit_costs(*programs, specs, Features::detect(), AttachWay::multi, nullptr);
    EXPECT_TRUE(costs.measured);
    EXPECT_GT(costs.passed_jump_ns, 0u);
    EXPECT_EQ(programs->config().passed_jump_ns, costs.passed_jump_ns);
    uint64_t entries = 0;
    for (uint32_t spec = 0; spec < WIRE_MAX_SPECS; spec++)
        for (uint32_t cpu = 0; cpu < programs->cpu_ids(); cpu++)
            entries += programs->call_counters(spec)[cpu].entries;
    EXPECT_GT(entries, 0u);
}

} // namespace
} // namespace auger::test
