// SPDX-License-Identifier: GPL-3.0-or-later
// The brake: shares in, actions out; and the session that carries them out.
#include "repl/services/brake.h"
#include "tests/unit/repl_fake_backend.h"

#include <gmock/gmock.h>

#include <cmath>

namespace auger {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Cause = Overhead::Cause;
using Kind = BrakeAction::Kind;

constexpr uint64_t second = 1'000'000'000;
constexpr OverheadLimit standard{25, true};

Cause cause(Cause::Kind kind, double share, uint32_t probe = 0) {
    return {kind, ProbeId{probe}, 1'000, static_cast<uint64_t>(share * 1e9)};
}
Cause probe(uint32_t id, double share) {
    return cause(Cause::Kind::probe, share, id);
}

// A second in which the target took one of CPU time.
Overhead span(uint64_t begin_s, std::vector<Cause> causes) {
    Overhead overhead;
    overhead.begin_ns = begin_s * second;
    overhead.end_ns = (begin_s + 1) * second;
    overhead.target_ns = second;
    overhead.causes = std::move(causes);
    return overhead;
}

std::vector<Kind> kinds(const std::vector<BrakeAction>& actions) {
    std::vector<Kind> all;
    for (const BrakeAction& action : actions)
        all.push_back(action.kind);
    return all;
}

SamplingSettings sampling(uint32_t rate_hz, bool wall = false, uint32_t waits_hz = 0) {
    SamplingSettings settings;
    settings.rate_hz = rate_hz;
    settings.wall = wall;
    settings.waits_hz = waits_hz;
    return settings;
}

TEST(Brake, LeavesAloneWhatFits) {
    Brake brake{1};
    EXPECT_THAT(brake.judge(span(1, {probe(1, 0.04), cause(Cause::Kind::samples, 0.03)}), standard,
                            sampling(999)),
                IsEmpty());
}

TEST(Brake, ActsOnWhatLasts) {
    Brake brake;
    const auto act = [&](uint64_t begin_s, double share) {
        return kinds(brake.judge(span(begin_s, {probe(1, share)}), standard, sampling(0)));
    };
    // A warning at once, and nothing more while every other span fits.
    EXPECT_EQ(act(1, 0.9), std::vector{Kind::warn});
    for (uint64_t s = 2; s < 20; s++)
        EXPECT_THAT(act(s, s % 2 ? 0.9 : 0.1), IsEmpty());
    act(20, 0.1);
    for (uint64_t s = 21; s < 21 + Brake::usual_patience - 1; s++)
        EXPECT_THAT(act(s, 0.9), IsEmpty());
    EXPECT_EQ(act(21 + Brake::usual_patience - 1, 0.9), std::vector{Kind::take_off});
}

TEST(Brake, TakesOffTheDearestProbesUntilTheRestFits) {
    Brake brake{1};
    const auto actions = brake.judge(span(1, {probe(1, 0.04), probe(2, 0.5), probe(3, 0.02)}),
                                     standard, sampling(0));
    ASSERT_EQ(kinds(actions), std::vector{Kind::take_off});
    EXPECT_EQ(actions[0].cause.probe, ProbeId{2});
    EXPECT_DOUBLE_EQ(actions[0].percent, 50);

    Brake another{1};
    const auto both = another.judge(span(1, {probe(1, 0.4), probe(2, 0.5)}), standard, sampling(0));
    EXPECT_EQ(kinds(both), (std::vector{Kind::take_off, Kind::take_off}));
}

TEST(Brake, HalvesTheRateUntilItFits) {
    Brake brake{1};
    auto actions =
        brake.judge(span(1, {cause(Cause::Kind::samples, 0.9)}), standard, sampling(8'000));
    ASSERT_EQ(kinds(actions), std::vector{Kind::lower_rate});
    EXPECT_EQ(actions[0].rate_hz, 2'000u); // 0.9 / 4 < 0.25
    // Not below 1 Hz, and then no further.
    Brake low{1};
    actions = low.judge(span(1, {cause(Cause::Kind::samples, 1)}), {0.01}, sampling(3));
    EXPECT_EQ(actions[0].rate_hz, 1u);
    Brake lowest{1};
    EXPECT_EQ(kinds(lowest.judge(span(1, {cause(Cause::Kind::samples, 1)}), {0.01}, sampling(1))),
              std::vector{Kind::warn});
}

// A lower rate would not make them cheaper; the backend chooses others, and says so.
TEST(Brake, LeavesClocksAlone) {
    Brake brake{1};
    const Cause clocks = cause(Cause::Kind::clocks, 0.9);
    EXPECT_THAT(brake.judge(span(1, {clocks}), standard, sampling(100)), IsEmpty());
    // They are part of what there is too much of.
    const auto actions =
        brake.judge(span(2, {clocks, cause(Cause::Kind::samples, 0.04)}), standard, sampling(100));
    ASSERT_EQ(kinds(actions), std::vector{Kind::lower_rate});
    EXPECT_EQ(actions[0].cause.kind, Cause::Kind::samples);
}

// What is beyond the limit with a rate is within it, or at its lowest, some spans later, and then
// nothing more is done: whatever costs do with the rate that is not steeper than in proportion.
TEST(Brake, ComesToRest) {
    for (const double power : {0.0, 0.3, 1.0})
        for (const double begin : {0.3, 0.6, 1.0})
            for (const double limit : {1.0, 10.0, 25.0}) {
                SCOPED_TRACE(testing::Message() << power << " " << begin << " " << limit);
                Brake brake{1};
                uint32_t rate = 4'999;
                int acted = 0, acted_last = 0;
                for (int s = 1; s <= 40; s++) {
                    const double share = begin * std::pow(rate / 4'999.0, power);
                    const auto actions = brake.judge(
                        span(static_cast<uint64_t>(s), {cause(Cause::Kind::samples, share)}),
                        {limit}, sampling(rate));
                    for (const BrakeAction& action : actions) {
                        if (action.kind != Kind::lower_rate)
                            continue;
                        EXPECT_LT(action.rate_hz, rate);
                        EXPECT_GT(100 * share, limit);
                        rate = action.rate_hz;
                        acted++;
                        acted_last = s;
                    }
                    if (!actions.empty())
                        brake.acted(static_cast<uint64_t>(s + 1) * second);
                }
                EXPECT_LE(acted, 13); // halvings from 4,999 to 1
                EXPECT_LE(acted_last, 26);
                EXPECT_TRUE(rate == 1 || 100 * begin * std::pow(rate / 4'999.0, power) <= limit);
            }
}

TEST(Brake, WaitsForASpanThatBeganAfterItsLastAction) {
    Brake brake{1};
    EXPECT_EQ(brake.judge(span(1, {probe(1, 0.5)}), standard, sampling(0)).size(), 1u);
    brake.acted(2 * second + 1);
    EXPECT_THAT(brake.judge(span(2, {probe(2, 0.5)}), standard, sampling(0)), IsEmpty());
    EXPECT_EQ(brake.judge(span(3, {probe(2, 0.5)}), standard, sampling(0)).size(), 1u);
    // The same once more, as a ledger tells it twice.
    EXPECT_THAT(brake.judge(span(3, {probe(2, 0.5)}), standard, sampling(0)), IsEmpty());
}

TEST(Brake, GivesWaitsARateOfTheirOwn) {
    Brake brake{1};
    Overhead crowd = span(1, {cause(Cause::Kind::waits, 0.5), cause(Cause::Kind::samples, 0.01)});
    crowd.waits = 100'000; // of 5,000 threads, 50 ms each
    crowd.waited_ns = 5'000 * second;
    auto actions = brake.judge(crowd, standard, sampling(499, true));
    ASSERT_EQ(kinds(actions), std::vector{Kind::lower_waits});
    // Down to where not every wait is a sample: 20 Hz.
    EXPECT_EQ(actions[0].rate_hz, 15u);
    crowd.begin_ns += second;
    crowd.end_ns += second;
    actions = brake.judge(crowd, standard, sampling(499, true, 15));
    EXPECT_EQ(actions[0].rate_hz, 7u);
    // At the lowest rate nothing is left but to do without them.
    crowd.begin_ns += second;
    crowd.end_ns += second;
    EXPECT_EQ(kinds(brake.judge(crowd, standard, sampling(499, true, 1))),
              std::vector{Kind::end_waits});
}

TEST(Brake, SlowsWaitsDownWhenTheirSamplesAreLost) {
    Overhead lossy = span(1, {cause(Cause::Kind::waits, 0.04)});
    lossy.waits = 100'000;
    lossy.waited_ns = 5'000 * second;
    lossy.wait_samples = 50'000;
    lossy.lost_wait_samples = 200; // a burst
    EXPECT_THAT(Brake().judge(lossy, standard, sampling(499, true)), IsEmpty());
    lossy.lost_wait_samples = 5'000;
    const auto actions = Brake().judge(lossy, standard, sampling(499, true));
    ASSERT_EQ(kinds(actions), std::vector{Kind::lower_waits});
    EXPECT_TRUE(actions[0].for_losses);
    EXPECT_THAT(Brake().judge(lossy, {25, false}, sampling(499, true)), IsEmpty());
}

TEST(Brake, WarnsOnceAndAgainAfterAWhile) {
    Brake brake{1};
    size_t warned = 0;
    const auto judge = [&](uint64_t s, double share) {
        const auto actions = brake.judge(span(s, {probe(1, share)}), standard, sampling(0));
        for (const BrakeAction& action : actions)
            EXPECT_EQ(action.kind, Kind::warn);
        warned += actions.size();
    };
    for (uint64_t s = 1; s < 5; s++)
        judge(s, 0.1);
    EXPECT_EQ(warned, 1u);
    judge(5, 0.01);
    judge(6, 0.1);
    EXPECT_EQ(warned, 1u);
    for (uint64_t s = 7; s < 20; s++)
        judge(s, 0.01);
    judge(20, 0.1);
    EXPECT_EQ(warned, 2u);
}

TEST(Brake, OnlyWarnsWhenItIsOff) {
    Brake brake{1};
    EXPECT_EQ(kinds(brake.judge(span(1, {probe(1, 0.9)}), {25, false}, sampling(0))),
              std::vector{Kind::warn});
}

// A tenth of a target that does nothing is no load.
TEST(Brake, LeavesAloneWhatIsHardlyThere) {
    Brake brake{1};
    Overhead idle = span(1, {});
    idle.target_ns = second / 100;
    idle.causes = {{Cause::Kind::samples, {}, 10, second / 200}};
    EXPECT_THAT(brake.judge(idle, standard, sampling(999)), IsEmpty());
}

// As many spans as the brake waits for, one after the other.
void pass_spans(TestSession& test, Overhead overhead) {
    for (uint64_t s = 1; s <= Brake::usual_patience; s++) {
        overhead.begin_ns = s * second;
        overhead.end_ns = (s + 1) * second;
        test.backend.overhead = overhead;
        test.run("wait 100ms\nwait 100ms"); // told in one, judged in the next
    }
}

TEST(BrakedSession, TakesAProbeOffAsAnEditThatUndoTakesBack) {
    TestSession test;
    test.run("target 4711\ntime handle\ntime parse");
    test.backend.log.clear();
    pass_spans(test, span(1, {probe(1, 0.93), probe(2, 0.01)}));
    EXPECT_THAT(test.backend.log, testing::Contains("detach 1"));
    EXPECT_THAT(test.backend.log, Not(testing::Contains("detach 2")));
    EXPECT_THAT(
        test.output.notices,
        HasSubstr("overhead: probe 1 (handle) took 93.0 % of the target's CPU time (1,000 a "
                  "second of about 930 us each): it is off, and what it collected stays; "
                  "\"time handle\" brings it back"));
    EXPECT_THAT(test.run("probes"), HasSubstr("off"));
    EXPECT_THAT(test.run("hist handle"), Not(HasSubstr("error")));
    EXPECT_EQ(test.run("undo"), "undid \"overhead: time handle off\"\n");
    EXPECT_EQ(test.backend.log.back(), "attach 1");
}

TEST(BrakedSession, LowersRatesAndSpellsThem) {
    TestSession test;
    test.run("target 4711\nsample wall 499");
    Overhead crowd = span(1, {cause(Cause::Kind::waits, 0.5)});
    crowd.waits = 100'000;
    crowd.waited_ns = 5'000 * second;
    test.run("overhead 25");
    pass_spans(test, crowd);
    EXPECT_THAT(test.backend.log, testing::Contains("sample wall 499 waits 15"));
    EXPECT_THAT(test.output.notices, HasSubstr("\"sample wall 499\" brings it back"));
    EXPECT_EQ(test.session.settings().sampling.waits_hz, 15u);
    test.run("undo");
    EXPECT_EQ(test.backend.log.back(), "sample wall 499");
}

TEST(OverheadCommand, SetsAndShowsTheLimit) {
    TestSession test;
    EXPECT_THAT(test.run("overhead 10%"), HasSubstr("10 % of the target's CPU time"));
    EXPECT_DOUBLE_EQ(test.session.settings().overhead.percent, 10);
    EXPECT_THAT(test.run("overhead off"), HasSubstr("any share"));
    test.run("undo");
    EXPECT_EQ(test.session.settings().overhead, (OverheadLimit{10, true}));
    for (const char* wrong : {"0", "-1", "101", "much", "nan%", "10 20"})
        EXPECT_THAT(test.run(std::string("overhead ") + wrong), HasSubstr("error")) << wrong;
    test.backend.overhead = span(
        1, {probe(1, 0.015), cause(Cause::Kind::samples, 0.03), cause(Cause::Kind::clocks, 0.02)});
    const std::string shown = test.run("overhead");
    EXPECT_THAT(shown, HasSubstr("65.0 ms of 1.00 s of CPU time"));
    EXPECT_THAT(shown, ContainsRegex("3\\.0 % .* measured +samples"));
    EXPECT_THAT(shown, ContainsRegex("2\\.0 % .* estimated +sampling clocks at context switches"));
    EXPECT_THAT(shown, ContainsRegex("1\\.5 % .* estimated +probe 1"));
}

} // namespace
} // namespace auger
