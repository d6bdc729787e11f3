// SPDX-License-Identifier: GPL-3.0-or-later
// How often is sampled, beside perf: the same threads, the same rate, the same span of time.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/run.h"
#include "tests/support/temporary_folder.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <map>
#include <sstream>

namespace auger::test {
namespace {

constexpr const char* perf = "/usr/bin/perf";

class Rates : public KernelTest {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!IsSkipped() && !std::filesystem::exists(perf))
            GTEST_SKIP() << "perf is not installed (package linux-perf)";
    }
    TemporaryFolder folder_;
};

struct Tick {
    uint32_t tid;
    uint64_t time_ns; // CLOCK_MONOTONIC
};

std::vector<Tick> ticks_of_perf(const std::string& file) {
    const Outcome script = run({perf, "script", "-i", file, "--ns", "-F", "tid,time"});
    std::vector<Tick> ticks;
    std::istringstream lines(script.out);
    for (std::string line; std::getline(lines, line);) {
        Tick tick{};
        unsigned long seconds = 0, ns = 0;
        if (std::sscanf(line.c_str(), " %u %lu.%9lu:", &tick.tid, &seconds, &ns) == 3) {
            tick.time_ns = seconds * 1'000'000'000 + ns;
            ticks.push_back(tick);
        }
    }
    return ticks;
}

TEST_F(Rates, AreThoseOfPerf) {
    Program program("spinner", {"--threads", "2", "--load", "100", "--seconds", "60"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.sample(999);
    ASSERT_TRUE(session.pump_until([&] { return session.model().samples().size() > 20; }));
    const std::string file = folder_.path("perf.data");
    auto recording = std::async(std::launch::async, [&] {
        return run({perf, "record", "-q", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock", "-F", "999",
                    "-p", std::to_string(program.pid()), "-o", file, "--", "/bin/sleep", "3"});
    });
    ASSERT_TRUE(session.pump_until(
        [&] { return recording.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    const Outcome outcome = recording.get();
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    session.sample(0);
    session.expect_samples_add_up();

    // From perf's first tick of both threads to its last.
    const std::vector<Tick> theirs = ticks_of_perf(file);
    ASSERT_GT(theirs.size(), 200u);
    std::map<uint32_t, double> of_perf, of_auger;
    const uint64_t from = theirs.front().time_ns, until = theirs.back().time_ns;
    for (const Tick& tick : theirs)
        of_perf[tick.tid]++;
    for (const SampleEvent& sample : session.log.samples)
        if (sample.time_ns >= from && sample.time_ns <= until)
            of_auger[session.model().symbols().thread(sample.thread).tid]++;
    // Each has its own timer, which goes on where it stopped when the thread left the CPU: a tick
    // more or less at either end. An interrupt that comes late, since the machine or the kernel did
    // something else, brings one tick in place of several, to each of the two by itself: 2 %.
    // Where others switch threads very often, auger goes over to the clocks of CPUs and says so: a
    // tick falls on a thread that runs for a share p of the time with that probability, so n ticks
    // are n give or take sqrt(n (1 - p)), which is less than sqrt(n). Four times that: one in
    // 15,000.
    const bool by_cpu = session.noticed("sampling by CPU from now on");
    for (const auto& [tid, ticks] : of_perf)
        EXPECT_NEAR(of_auger[tid], ticks, 2 + (by_cpu ? 4 * std::sqrt(ticks) : 0.02 * ticks))
            << "thread " << tid << (by_cpu ? ", by CPU" : "");
}

} // namespace
} // namespace auger::test
