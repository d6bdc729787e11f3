// SPDX-License-Identifier: GPL-3.0-or-later
// What sampling costs at context switches: what `sample wall` does there is taken out of the
// durations of calls that it holds up, and clocks that would cost too much are not used.
#include "loader/base/quantile.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "views/overhead_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace auger::test {
namespace {

constexpr uint64_t calls = 200, switches = 20;
constexpr size_t pairs = 11;
constexpr uint32_t rate_hz = 99;
const std::string clocks_are_given_up = "sampling by CPU from now on";

// Means of the calls of one phase: as auger tells, and by the program's own clock.
struct Phase {
    double told = 0, own = 0;
};

class SwitchCosts : public KernelTest {
  protected:
    void begin(const std::string& depth, const std::string& partner_depth) {
        program_.emplace("fixed_work", std::vector<std::string>{"--depth", depth, "--partner-depth",
                                                                partner_depth, "--switches",
                                                                std::to_string(switches)});
        program_->wait_ready();
        session_.observe(program_->pid());
    }
    // What the program says of so many calls, by its own clock.
    double own_mean_of(uint64_t count) {
        program_->say(std::to_string(count));
        std::istringstream line(program_->read_line());
        double mean = 0;
        uint64_t left_cpu = 0;
        EXPECT_TRUE(line >> mean >> left_cpu);
        EXPECT_GE(left_cpu, count * switches);
        return mean;
    }
    Phase measure(const SamplingSettings& sampling) {
        must(session_.backend().set_sampling(sampling));
        const ProbeId probe = session_.time("work");
        Phase phase;
        phase.own = own_mean_of(calls);
        EXPECT_EQ(session_.calls(probe).returns, calls);
        const CallStatistics statistics = session_.model().probe_statistics(probe);
        phase.told = statistics.sum_ns / statistics.returns;
        must(session_.backend().remove_probe(probe));
        return phase;
    }
    // Medians of how much longer calls are that are sampled than those before and after them.
    Phase lengthened_by(const SamplingSettings& sampling) {
        std::vector<double> told, own;
        for (size_t pair = 0; pair < pairs; pair++) {
            const Phase before = measure({}), sampled = measure(sampling), after = measure({});
            told.push_back(2 * sampled.told / (before.told + after.told) - 1);
            own.push_back(2 * sampled.own / (before.own + after.own) - 1);
        }
        return {median(told), median(own)};
    }
    // By the program's own clock, meanwhile: of all of it, as clocks are dear at some times (while
    // the partner's is about to tick, at each switch) and cheap at others.
    double mean_until_clocks_are_given_up(const SamplingSettings& sampling) {
        must(session_.backend().set_sampling(sampling));
        std::vector<double> means;
        while (!session_.noticed(clocks_are_given_up) && means.size() < 100) {
            means.push_back(own_mean_of(calls));
            must(session_.backend().poll(std::chrono::nanoseconds(0), -1));
        }
        EXPECT_TRUE(session_.noticed(clocks_are_given_up));
        return std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
    }

    std::optional<Program> program_;
    Session session_;
};

// Threads have clocks of their own, which are stopped and started at each switch. What that costs
// is told beside what samples cost, as an estimate, which may be off by half; and as it is much,
// the CPUs' clocks are sampled instead. What these add is a few ticks' time: of what the others
// added, less than an eighth is left.
TEST_F(SwitchCosts, OfClocksAreToldAndAvoided) {
    begin("1", "1");
    std::vector<double> unsampled;
    for (size_t phase = 0; phase < pairs; phase++)
        unsampled.push_back(own_mean_of(calls));
    const double plain = median(unsampled);
    const double clocked = mean_until_clocks_are_given_up({rate_hz});
    ASSERT_GT(clocked / plain, 1.2); // else there is nothing to avoid
    ASSERT_TRUE(session_.pump_until([&] { return session_.model().ledger().overhead.end_ns; }));
    const Overhead overhead = session_.model().ledger().overhead;
    const auto clocks =
        std::ranges::find(overhead.causes, Overhead::Cause::Kind::clocks, &Overhead::Cause::kind);
    ASSERT_NE(clocks, overhead.causes.end());
    const double told =
        static_cast<double>(overhead_cost(overhead)) / static_cast<double>(overhead.target_ns);
    const double truth = 1 - plain / clocked;
    const Phase left = lengthened_by({rate_hz});
    fmt::print("calls are longer by {:.4f}, which is {:.4f} of the time, told {:.4f}; then by "
               "{:.4f}, told {:.4f}\n",
               clocked / plain - 1, truth, told, left.own, left.told);
    EXPECT_GT(told, truth / 2);
    EXPECT_LT(told, truth * 3 / 2);
    EXPECT_LT(left.own, (clocked / plain - 1) / 8);
    EXPECT_LT(left.told, (clocked / plain - 1) / 8);
    EXPECT_GT(left.told, -(clocked / plain - 1) / 8);
}

// Of the little that an idle target executes clocks may be any share: here of a call a second,
// whose few switches take less than one in 10,000 of a CPU's time.
TEST_F(SwitchCosts, OfAnIdleTargetAreNoReasonToAvoidClocks) {
    program_.emplace("fixed_work", std::vector<std::string>{"--depth", "1", "--partner-depth", "1",
                                                            "--switches", "4"});
    program_->wait_ready();
    session_.observe(program_->pid());
    must(session_.backend().set_sampling({rate_hz}));
    const auto span = [&] { return session_.model().ledger().overhead.end_ns; };
    for (int spans = 0; spans < 3; spans++) {
        program_->say("1");
        program_->read_line();
        ASSERT_TRUE(session_.pump_until([&, before = span()] { return span() != before; }));
    }
    EXPECT_FALSE(session_.noticed(clocks_are_given_up));
}

// Whose stack is dear to take: that of the call, which is done when it leaves the CPU, or that of
// the partner which it comes back from.
struct Way {
    const char* name;
    const char* depth;
    const char* partner_depth;
};

void PrintTo(const Way& way, std::ostream* out) {
    *out << way.name;
}

class WaitCosts : public SwitchCosts, public testing::WithParamInterface<Way> {};

// Each hand-over is two switches and a wake-up. All that is done at them is taken out: most of it
// is measured each time, and the way into the programs when waits begin to be sampled, in a loop,
// where it finds warmer caches. That is 0.25 us of a switch and 0.08 of a wake-up, 12 us of a call,
// which is lengthened by about 95: an eighth, and by that the durations may be wrong.
TEST_P(WaitCosts, AreNotInTheDurationsOfCallsThatTheyHoldUp) {
    begin(GetParam().depth, GetParam().partner_depth);
    mean_until_clocks_are_given_up({rate_hz, true});
    const Phase longer = lengthened_by({rate_hz, true});
    fmt::print("{}: told {:.4f}, by its own clock {:.4f}\n", GetParam().name, longer.told,
               longer.own);
    ASSERT_GT(longer.own, 0.2); // else there is nothing to take out
    EXPECT_LE(longer.told, longer.own / 8);
    EXPECT_GE(longer.told, -longer.own / 8);
}

INSTANTIATE_TEST_SUITE_P(Ways, WaitCosts,
                         testing::Values(Way{"from_deep", "100", "1"},
                                         Way{"back_from_deep", "1", "100"}),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace auger::test
