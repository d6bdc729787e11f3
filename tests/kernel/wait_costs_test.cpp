// SPDX-License-Identifier: GPL-3.0-or-later
// What `sample wall` does at context switches is taken out of the durations of calls that it holds
// up: of those that leave the CPU without waiting for anything, and of those that come back to it.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/median.h"

#include <fmt/format.h>

#include <sstream>

namespace auger::test {
namespace {

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

constexpr uint64_t calls = 200, switches = 20;
constexpr size_t pairs = 11;

// Means of the calls of one phase: as auger tells, and by the program's own clock.
struct Phase {
    double told = 0, own = 0;
};

class WaitCosts : public KernelTest, public testing::WithParamInterface<Way> {
  protected:
    Phase measure(bool wall) {
        must(session_.backend().set_sampling({99, wall}));
        const ProbeId probe = session_.time("work");
        program_.say(std::to_string(calls));
        std::istringstream line(program_.read_line());
        Phase phase;
        uint64_t left_cpu = 0;
        EXPECT_TRUE(line >> phase.own >> left_cpu);
        EXPECT_GE(left_cpu, calls * switches);
        EXPECT_EQ(session_.calls(probe).returns, calls);
        const CallStatistics statistics = session_.model().probe_statistics(probe);
        phase.told = statistics.sum_ns / statistics.returns;
        must(session_.backend().remove_probe(probe));
        return phase;
    }

    Program program_{"fixed_work",
                     {"--depth", GetParam().depth, "--partner-depth", GetParam().partner_depth,
                      "--switches", std::to_string(switches)}};
    Session session_;
};

// Each hand-over is two switches and a wake-up. Not taken out are the partner's coming, which is
// done for a thread without timed calls, the wake-up, and the way into the three programs, which
// none of them sees: 0.10 of the 0.50 by which a call was longer, and 0.18 of 0.56, so half of it
// is allowed. Without the charge of the switch whose stack is deep it is most of it.
//
// Sampling goes on in both: the kernel stops and starts its clock at each switch, which lengthens
// such calls by about as much again, and is no program's work.
TEST_P(WaitCosts, AreNotInTheDurationsOfCallsThatTheyHoldUp) {
    program_.wait_ready();
    session_.observe(program_.pid());
    measure(true);
    std::vector<double> told, own;
    for (size_t pair = 0; pair < pairs; pair++) {
        const Phase before = measure(false), watched = measure(true), after = measure(false);
        told.push_back(2 * watched.told / (before.told + after.told));
        own.push_back(2 * watched.own / (before.own + after.own));
    }
    fmt::print("{}: told {:.4f}, by its own clock {:.4f}\n", GetParam().name, median(told),
               median(own));
    ASSERT_GT(median(own), 1.2); // else there is nothing to take out
    EXPECT_LE(median(told) - 1, (median(own) - 1) / 2) << testing::PrintToString(told);
    EXPECT_GE(median(told) - 1, -(median(own) - 1) / 8) << testing::PrintToString(told);
}

INSTANTIATE_TEST_SUITE_P(Ways, WaitCosts,
                         testing::Values(Way{"from_deep", "100", "1"},
                                         Way{"back_from_deep", "1", "100"}),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace auger::test
