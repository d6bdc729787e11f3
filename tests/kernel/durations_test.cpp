// SPDX-License-Identifier: GPL-3.0-or-later
// Durations are those that calls would have without being sampled: what samples add is taken out of
// them, however deep the stacks, and whether the samples are kept or not.
#include "loader/base/quantile.h"
#include "tests/kernel/kernel_maps.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>

namespace auger::test {
namespace {

struct Way {
    const char* name;
    const char* depth;
    bool gated = false;
    bool wall = false;
};

void PrintTo(const Way& way, std::ostream* out) {
    *out << way.name;
}

// Of the calls of one phase.
struct Phase {
    double mean = 0, median = 0; // as auger tells
    double own = 0;              // mean by the program's own clock
};

struct Interval {
    double low = 0, high = 0;
    double width() const { return high - low; }
    double centre() const { return (low + high) / 2; }
};

// Between which the median lies of what independent values come from, whatever that is like: it is
// beyond the k-th of n, from below or above, when fewer than k fell on its other side, which
// happens 2 * (C(n, 0) + ... + C(n, k - 1)) / 2^n times. k is the largest of which that is once in
// 4,500 (of 21 values the third). Standard errors told of normal values only, and some of these
// come with a host that took the CPU away.
Interval interval_of_median(std::vector<double> values) {
    const size_t n = values.size();
    double term = std::pow(0.5, static_cast<double>(n)), sum = term; // of C(n, i) / 2^n
    size_t beyond = 0;
    while (true) {
        term *= static_cast<double>(n - beyond) / static_cast<double>(beyond + 1);
        if (2 * (sum + term) > 1.0 / 4'500)
            break;
        sum += term;
        beyond++;
    }
    std::ranges::sort(values);
    return {values.at(beyond), values.at(n - 1 - beyond)};
}

// Durations are to be those of calls that are not sampled, within this share.
constexpr double bound = 0.02;
// What a tick costs, which is calibrated when sampling begins, has to be known to within an eighth.
// So ticks may lengthen calls by 8 * 2 % = 16 %, and have to for an error of an eighth to be seen:
// the rate is the one at which they do. Of a thread's time T, ticks included, they take
// T * rate * cost, so calls are lengthened by x / (1 - x), where x = rate * cost: 0.16 by 0.138.
// What auger says that one costs is a mean with all that the host took meanwhile, which on a busy
// one has been four times as much: the program's own clock says whether the rate is the one.
constexpr double lengthened_by = 8 * bound;
constexpr double taken_by_ticks = lengthened_by / (1 + lengthened_by);
constexpr uint32_t most_hz = 49'999;

// So many calls that sampling is set up and ended for no more than half of the time: of 2,000 calls
// a pair told no more, and took more than twice as long.
constexpr uint64_t calls_of_phase = 800;
// So many as there is time for in a test: a pair takes half a second on a calm
// machine.
constexpr size_t pairs_at_once = 7, fewest_pairs = 21, most_pairs = 294;

class Durations : public KernelTest, public testing::WithParamInterface<Way> {
  protected:
    Phase measure(uint32_t rate_hz) {
        must(session_.backend().set_sampling({rate_hz, GetParam().wall && rate_hz}));
        program_.say(fmt::format("{}", calls_of_phase));
        Phase phase;
        phase.own = std::stod(program_.read_line());
        EXPECT_EQ(session_.calls(probe_).returns, calls_before_.returns + calls_of_phase);
        const CallStatistics calls = session_.model().probe_statistics(probe_);
        WeightedHistogram durations = calls.durations;
        durations.subtract(calls_before_.durations);
        phase.mean = (calls.sum_ns - calls_before_.sum_ns) / calls_of_phase;
        phase.median = durations.quantile(0.5);
        calls_before_ = calls;
        return phase;
    }

    // What a tick costs, as auger knows it.
    uint64_t gap_ns() {
        must(session_.backend().refresh());
        return session_.model().ledger().sample_gap_ns;
    }

    static uint32_t bounded(double rate) {
        return static_cast<uint32_t>(std::clamp<double>(rate, 99, most_hz));
    }

    uint32_t rate_by_what_a_tick_costs() {
        measure(9'999);
        return bounded(taken_by_ticks * 1e9 / static_cast<double>(gap_ns()));
    }

    // Neighbours, the host's above all, come and go: so each phase is held against two of its own,
    // before and after it.
    struct Ratios {
        std::vector<double> means, medians, own;

        void append(const Ratios& more) {
            means.insert(means.end(), more.means.begin(), more.means.end());
            medians.insert(medians.end(), more.medians.begin(), more.medians.end());
            own.insert(own.end(), more.own.begin(), more.own.end());
        }
    };

    Ratios pairs_at(uint32_t rate) {
        Ratios ratios;
        for (size_t pair = 0; pair < pairs_at_once; pair++) {
            const Phase before = measure(0), sampled = measure(rate), after = measure(0);
            ratios.means.push_back(2 * sampled.mean / (before.mean + after.mean));
            ratios.medians.push_back(2 * sampled.median / (before.median + after.median));
            ratios.own.push_back(2 * sampled.own / (before.own + after.own));
        }
        return ratios;
    }

    // The rate at which calls are as much longer as they are to be, after they were `longer` by the
    // program's own clock at this one. A host that gets busy makes ticks several times as costly:
    // what was the right rate then lengthens calls by their own length, and by as much more do the
    // ratios vary.
    static uint32_t next_rate(uint32_t rate, double longer) {
        const double wrong = lengthened_by / std::max(longer, 0.01);
        return wrong > 0.75 && wrong < 1.33 ? rate : bounded(rate * std::clamp(wrong, 0.25, 4.0));
    }

    Program program_{"fixed_work", {"--depth", GetParam().depth}};
    Session session_;
    ProbeId probe_; // of its calls, timed from first to last
    CallStatistics calls_before_;
};

// Whether it is known on which side of the bound the median is, or the median to a quarter of that.
bool is_decided(const Interval& median) {
    const double to_bound = std::abs(std::abs(median.centre() - 1) - bound);
    return to_bound > median.width() / 2 || median.width() < bound / 4;
}

// The median of the ratios is looked at, with as many of them as it takes to know it: its interval
// is narrower than the bound, and the bound outside of it. Of a deviation of 1.4 % an interval as
// wide as the bound would be red now and then.
TEST_P(Durations, AreThoseOfCallsThatAreNotSampled) {
    program_.wait_ready();
    session_.observe(program_.pid());
    if (GetParam().gated) {
        OnlyInfo nobody;
        nobody.text = "a gate";
        nobody.gate = {{{GateTerm::Kind::comm, {}, {}, 0, "nobody"}}, {{{0}, {}}}};
        must(session_.backend().set_only(nobody));
    }
    probe_ = session_.time("work");
    uint32_t rate = rate_by_what_a_tick_costs();
    const auto follow = [&](const Ratios& found) { rate = next_rate(rate, median(found.own) - 1); };
    follow(pairs_at(rate)); // these only say whether the rate is about the one
    Ratios ratios;
    const auto known = [&] {
        return ratios.means.size() >= fewest_pairs &&
               interval_of_median(ratios.means).width() < bound &&
               interval_of_median(ratios.medians).width() < bound;
    };
    const auto decided = [&] {
        return known() && is_decided(interval_of_median(ratios.means)) &&
               is_decided(interval_of_median(ratios.medians));
    };
    while (!decided() && ratios.means.size() < most_pairs) {
        const Ratios more = pairs_at(rate);
        ratios.append(more);
        follow(more);
    }
    const double taken = rate * static_cast<double>(gap_ns()) / 1e9;
    const Interval of_means = interval_of_median(ratios.means),
                   of_medians = interval_of_median(ratios.medians);
    fmt::print("{}: {} pairs at {} Hz: means {:.4f} (+-{:.4f}), medians {:.4f} (+-{:.4f}), by its "
               "own clock {:.4f}, a sample costs {} ns, by that {:.4f}\n",
               GetParam().name, ratios.means.size(), rate, of_means.centre(), of_means.width() / 2,
               of_medians.centre(), of_medians.width() / 2, median(ratios.own), gap_ns(),
               1 / (1 - taken));
    EXPECT_TRUE(known()) << "after " << ratios.means.size() << " pairs nothing is known to within "
                         << bound;
    // Else there is nothing to take out, or the wrong samples are; half of it would be enough to
    // see. At the highest rate ticks may cost less.
    const double expected = rate < most_hz ? lengthened_by : taken / (1 - taken);
    EXPECT_GT(median(ratios.own) - 1, expected / 2);
    EXPECT_EQ(session_.model().ledger().samples == 0, GetParam().gated);
    EXPECT_NEAR(of_means.centre(), 1, bound) << testing::PrintToString(ratios.means);
    EXPECT_NEAR(of_medians.centre(), 1, bound) << testing::PrintToString(ratios.medians);
}

// CPUs may be of different kinds, and virtual ones have hosts that are not equally busy.
TEST_F(KernelTest, EachCpuSaysWhatATickCostsThere) {
    Session session;
    must(session.backend().set_sampling({999, false}));
    const KernelMaps maps;
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        const auto cost = maps.at<wire_tick_cost>("tick_costs", cpu);
        EXPECT_GT(cost.ticks, 0u) << cpu; // measured there, and not that of the others
        EXPECT_GT(cost.entry_ns, 0u) << cpu;
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, Durations,
                         testing::Values(Way{"shallow", "1"}, Way{"deep", "100"},
                                         Way{"gated", "1", true}, Way{"gated_deep", "100", true},
                                         Way{"wall", "100", false, true}),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace auger::test
