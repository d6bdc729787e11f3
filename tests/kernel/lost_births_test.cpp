// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the target's processes when the kernel's word of them was lost, or came too
// late.
#include "loader/kernel/live_target.h"
#include "loader/process/proc_info.h"
#include "tests/kernel/program.h"
#include "tests/kernel/ring_space.h"
#include "tests/kernel/session.h"
#include "tests/support/wait.h"

#include <bpf/bpf.h>
#include <gmock/gmock.h>

#include <cstdlib>

namespace auger::test {
namespace {

class Births : public KernelTest {
  protected:
    using Process = TargetStatus::Process;

    // A shell that, after the first line it is told, runs two busy threads and then a short life
    // for each line "fill", and goes on with `then` after another line. `before`: what it runs
    // first.
    static std::vector<std::string> filling(const std::string& before, const std::string& then) {
        return {"-c", "echo ready $$; read l; " + program_path("spinner") +
                          " --threads 2 --seconds 90 > /dev/null & a=$!; " + before +
                          "while read l && [ $l = fill ]; do /bin/true; echo; done; " + then};
    }

    // Nobody reads the ring meanwhile. How long it takes to fill is the machine's affair: a tick
    // may cost more than the 20 us between two of them. The record of a process is smaller than
    // that of a sample and may find room where none is for those: it is full when a short life
    // leaves nothing in it.
    static bool fill_ring(Program& shell) {
        const RingSpace ring;
        const auto nothing_fits = [&] {
            const uint64_t before = ring.free_bytes();
            shell.say("fill");
            shell.read_line();
            return ring.free_bytes() == before;
        };
        return wait_until(nothing_fits) || wait_until(nothing_fits);
    }
};

// The ring is full of samples when the child is born, so nobody hears of it.
TEST_F(Births, ThatWereLostAreFound) {
    Program shell("/bin/sh", filling("", "sleep 90 > /dev/null & b=$!; echo $b; read l; "
                                         "kill $a $b; wait"));
    shell.wait_ready();
    Session session;
    session.observe(shell.pid());
    session.sample(49'999);
    shell.go();
    ASSERT_TRUE(session.pump_until([&] { return session.model().samples().size() > 100; }));
    ASSERT_TRUE(fill_ring(shell));
    shell.say("on");
    const pid_t child = std::stoi(shell.read_line());
    EXPECT_THAT(session.backend().target_status().processes,
                testing::Not(testing::Contains(testing::Field(&Process::pid, child))));
    ASSERT_TRUE(
        session.pump_until([&] { return session.lost("process events: event ring full") > 0; }));
    EXPECT_TRUE(session.pump_until([&] {
        return testing::Value(
            session.backend().target_status().processes,
            testing::Contains(testing::AllOf(testing::Field(&Process::pid, child),
                                             testing::Field(&Process::running, true))));
    }));
    session.sample(0);
    shell.say("end");
    session.pump_to_end();
}

// The birth waits in the full ring when the end finds no room there: that was lost before its birth
// is heard of.
TEST_F(Births, WhoseEndsWereLostAreNotWaitedFor) {
    Program shell("/bin/sh", filling("sleep 90 > /dev/null & b=$!; ", "kill $a $b; wait"));
    shell.wait_ready();
    Session session;
    session.observe(shell.pid());
    session.sample(49'999);
    shell.go();
    ASSERT_TRUE(fill_ring(shell));
    shell.say("on");
    EXPECT_EQ(shell.wait_exit(), 0);
    session.pump_to_end();
    EXPECT_GT(session.lost("process events: event ring full"), 0);
}

// It ends between the look at it and the kernel's knowing it as a target: whoever gets its number
// next must not be observed.
TEST_F(Births, OfWhoeverHasTheNumberNextAreNoTargets) {
    auto programs = must(Programs::load({}));
    LiveTarget target(*programs);
    Program program("churn", {"--calls", "1", "--wait"});
    program.wait_ready();
    TargetSpec spec;
    spec.kind = TargetSpec::Kind::pids;
    spec.pids = {program.pid()};
    auto prepared = must(target.prepare(spec));
    program.signal(SIGKILL);
    program.wait_exit();
    must(target.set(std::move(prepared)));
    EXPECT_TRUE(target.running().empty());
    const auto key = static_cast<uint32_t>(program.pid());
    uint32_t value = 0;
    EXPECT_LT(bpf_map_lookup_elem(programs->map_fd(MapKind::targets), &key, &value), 0);
}

// Some hundred programs fill the rings of mapping events, and then the library is loaded.
TEST_F(Births, OfMappingsThatWereLostAreProbed) {
    Program program("late_library", {"--calls", "1", "--step", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId probe = session.time("liblate_work:late_work");
    ASSERT_TRUE(session.report.pending);
    // Each maps itself and the C library, and is heard of in some 1,000 bytes; a CPU's ring has
    // 256 KB.
    const auto executions = std::to_string(1'000 * sysconf(_SC_NPROCESSORS_ONLN));
    ASSERT_EQ(
        system(
            ("i=0; while [ $i -lt " + executions + " ]; do /bin/true; i=$((i+1)); done").c_str()),
        0);
    program.go();
    ASSERT_TRUE(program.read_line().starts_with("loaded "));
    ASSERT_TRUE(
        session.pump_until([&] { return !session.model().find_probe(probe)->specs.empty(); }));
    // The kernel tells of what a ring lost with the next record in it: so each CPU gets one.
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
        ASSERT_EQ(system(("taskset -c " + std::to_string(cpu) + " /bin/true").c_str()), 0);
    EXPECT_TRUE(
        session.pump_until([&] { return session.lost("mapping events: perf ring full") > 0; }));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).returns, program.account()["calls"].get<uint64_t>());
}

} // namespace
} // namespace auger::test
