// SPDX-License-Identifier: GPL-3.0-or-later
// What makes calls differ: shares that add up, intervals that hold what they promise, and functions
// that are picked from samples.
#include "tests/support/durations.h"
#include "tests/unit/golden.h"
#include "tests/unit/synthetic_stream.h"
#include "views/json/json_views.h"
#include "views/model/explanation.h"
#include "views/model/part_candidates.h"
#include "views/text/views.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <random>

namespace auger {
namespace {

using nlohmann::json;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The population's share by its definition.
TEST(VarianceShares, AreCovariancesByTheVariance) {
    const VarianceShares shares({1, 1, 1, 1}, {1, 2, 3, 6}); // mean 3, squares 4 + 1 + 0 + 9
    EXPECT_DOUBLE_EQ(shares.mean(), 3);
    EXPECT_DOUBLE_EQ(shares.variance(), 14.0 / 4);
    const std::vector<double> growing{0, 1, 2, 5}, constant{1, 1, 1, 1}, against{2, 1, 1, 0};
    EXPECT_DOUBLE_EQ(*shares.of(growing).variance, 1);
    EXPECT_DOUBLE_EQ(*shares.of(constant).variance, 0);
    EXPECT_DOUBLE_EQ(shares.of(constant).mean, 1);
    EXPECT_DOUBLE_EQ(*shares.of(against).variance, (-4.0 - 1 + 0 + 0) / 14); // cov with 2 1 1 0
    // One of four calls is no twentieth.
    EXPECT_EQ(shares.slow_calls(), 0u);
    EXPECT_DOUBLE_EQ(shares.p95(), 6);
}

TEST(VarianceShares, OfACallThatStandsForThreeAreThoseOfThree) {
    const VarianceShares one({3, 1, 1}, {5, 1, 3}), three({1, 1, 1, 1, 1}, {5, 5, 5, 1, 3});
    const std::vector<double> part{4, 1, 1}, parts{4, 4, 4, 1, 1};
    EXPECT_DOUBLE_EQ(one.mean(), three.mean());
    EXPECT_DOUBLE_EQ(one.variance(), three.variance());
    EXPECT_DOUBLE_EQ(*one.of(part).variance, *three.of(parts).variance);
    EXPECT_DOUBLE_EQ(one.of(part).mean, three.of(parts).mean);
    // But it is one call: what it says is less sure.
    EXPECT_LT(one.effective_calls(), three.effective_calls());
}

TEST(VarianceShares, OfNoneOneTwoAndEqualCallsSayNothingTooSure) {
    EXPECT_EQ(VarianceShares({}, {}).of({}).variance, std::nullopt);
    const std::vector<double> one{1}, two{1, 3}, equal{1, 2, 3};
    EXPECT_EQ(VarianceShares({1}, {5}).of(one).variance, std::nullopt);
    const PartShare of_two = VarianceShares({1, 1}, {5, 9}).of(two);
    EXPECT_DOUBLE_EQ(*of_two.variance, 0.5);
    EXPECT_FALSE(of_two.interval);
    EXPECT_EQ(VarianceShares({1, 1, 1}, {7, 7, 7}).of(equal).variance, std::nullopt);
    // All rests on a single call.
    std::vector<double> durations(1000, 7), part(1000, 1);
    durations[5] = 1e6;
    part[5] = 9e5;
    EXPECT_FALSE(VarianceShares(std::vector<double>(1000, 1), durations).of(part).interval);
}

TEST(VarianceShares, CallsBeyondP95AreATwentieth) {
    std::vector<double> durations, part;
    for (int i = 1; i <= 200; i++) {
        durations.push_back(i);
        part.push_back(i > 190 ? 7 : 1);
    }
    const VarianceShares shares(std::vector<double>(200, 1), durations);
    EXPECT_DOUBLE_EQ(shares.p95(), 190);
    EXPECT_EQ(shares.slow_calls(), 10u);
    EXPECT_DOUBLE_EQ(shares.of(part).slow_mean, 7);
    EXPECT_DOUBLE_EQ(shares.of(part).others_mean, 1);
}

// Tables of 300 calls whose true shares are known from very many: 95 % of the intervals should hold
// them. With long tails it is a little less, in 200 tables give or take 4 times 1.5 %.
struct Population {
    const char* name;
    std::function<double(std::mt19937_64&)> lookup;
    double least; // of the intervals that hold
};
class Intervals : public testing::TestWithParam<Population> {
  protected:
    using Columns = std::vector<std::vector<double>>; // parts, the duration last
    Columns draw(size_t calls) {
        Columns columns(5);
        std::normal_distribution<double> normal;
        for (size_t i = 0; i < calls; i++) {
            const double lookup = GetParam().lookup(random_);
            const std::array<double, 4> parts{100 + normal(random_), lookup,
                                              20 + 3 * normal(random_),
                                              10 + 2 * normal(random_) + 0.3 * lookup};
            double sum = 0;
            for (size_t part = 0; part < parts.size(); part++) {
                columns[part].push_back(parts[part]);
                sum += parts[part];
            }
            columns.back().push_back(sum);
        }
        return columns;
    }
    std::mt19937_64 random_{42};
};

TEST_P(Intervals, HoldTheTruthAsOftenAsTheySay) {
    const Columns all = draw(100'000);
    const VarianceShares truth(std::vector<double>(all.back().size(), 1), all.back());
    std::array<int, 4> held{};
    constexpr int tables = 200;
    for (int table = 0; table < tables; table++) {
        const Columns calls = draw(300);
        const VarianceShares shares(std::vector<double>(300, 1), calls.back());
        double sum = 0;
        for (size_t part = 0; part < held.size(); part++) {
            const PartShare share = shares.of(calls[part]);
            const double is = *truth.of(all[part]).variance;
            sum += *share.variance;
            held[part] += share.interval && share.interval->low <= is && is <= share.interval->high;
        }
        EXPECT_NEAR(sum, 1, 1e-9);
    }
    for (const int of : held)
        EXPECT_GE(double(of) / tables, GetParam().least);
}

INSTANTIATE_TEST_SUITE_P(
    Populations, Intervals,
    testing::Values(Population{"exponential",
                               [](std::mt19937_64& random) {
                                   return std::exponential_distribution<double>(0.1)(random);
                               },
                               0.89},
                    Population{"lognormal",
                               [](std::mt19937_64& random) {
                                   return std::lognormal_distribution<double>(1, 1.2)(random);
                               },
                               0.84},
                    Population{"rare",
                               [](std::mt19937_64& random) {
                                   std::uniform_real_distribution<double> even(0, 1);
                                   return 5 + (even(random) < 0.05 ? 100 : 1) * even(random);
                               },
                               0.89}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(RoundedShares, AddUpToTheWhole) {
    EXPECT_THAT(rounded_shares({1, 1, 1}, 3), ElementsAre(333, 333, 334));
    EXPECT_THAT(rounded_shares({0.90004, 0.10003, -0.00007}, 1), ElementsAre(900, 100, 0));
    EXPECT_THAT(rounded_shares({1.2, -0.2}, 1), ElementsAre(1200, -200));
    EXPECT_THAT(rounded_shares({0, 0}, 0), ElementsAre(0, 0));
    EXPECT_THAT(rounded_shares({1e300}, 1e-300), ElementsAre(1'000'000'000'000'000));
}

class ExplanationTest : public testing::Test {
  protected:
    struct Part {
        SpecId spec;
        uint32_t calls;
        int64_t self_ns;
    };
    // A call of handle that ends now and took so long.
    void call(uint64_t duration, const std::vector<Part>& parts, uint32_t set = 1,
              uint32_t stands_for = 1, std::optional<CallWaits> waits = {}) {
        CallPartsEvent event = ended(handle, duration, set, stands_for);
        event.end.waits = waits;
        std::vector<CallPart> told;
        for (const Part& part : parts)
            told.push_back({part.spec, part.calls, part.self_ns});
        event.parts = told;
        model.on_call_parts(event);
    }
    void incomplete(uint64_t duration) {
        CallPartsEvent event = ended(handle, duration, 1, 1);
        event.incomplete = true;
        model.on_call_parts(event);
    }
    CallPartsEvent ended(SpecId spec, uint64_t duration, uint32_t set, uint32_t stands_for) {
        now += 10 * ms;
        CallPartsEvent event;
        event.end = {now, duration, stream.thread(1), stream.call(spec, now - duration)};
        event.set = set;
        event.stands_for = stands_for;
        return event;
    }
    Explanation explanation(const Window& window = {}) {
        return explain_calls(model, window, ProbeId{1});
    }
    std::string name(const ExplainedPart& part) {
        return part.rest             ? "rest"
               : !part.state.empty() ? std::string(part.state)
                                     : model.specs()[part.spec.index()].function;
    }
    std::vector<std::string> names(const std::vector<ExplainedPart>& parts) {
        std::vector<std::string> all;
        for (const ExplainedPart& part : parts)
            all.push_back(name(part));
        return all;
    }

    Model model;
    SyntheticStream stream{model};
    SpecId handle = stream.probe(1, "handle"), parse = stream.probe(2, "ns::parse(int)"),
           lookup = stream.probe(3, "lookup");
    uint64_t now = 1'000 * ms;
};

TEST_F(ExplanationTest, PartsAndTheRestAddUp) {
    for (uint64_t i = 0; i < 200; i++) {
        const uint64_t slow = i % 20 == 0 ? 3 * ms + i * us : 0, noise = (i * 7919) % 101;
        call(2 * ms + slow + noise * us, {{parse, 1, 1'500 * us}, {lookup, 3, int64_t(slow) + 40}});
    }
    const Explanation found = explanation();
    EXPECT_EQ(found.calls, 200u);
    EXPECT_THAT(names(found.functions), ElementsAre("lookup", "ns::parse(int)", "rest"));
    EXPECT_DOUBLE_EQ(found.functions[0].calls, 3);
    double variance = 0, mean = 0;
    for (const ExplainedPart& part : found.functions) {
        variance += *part.share.variance;
        mean += part.share.mean;
    }
    EXPECT_NEAR(variance, 1, 1e-12);
    EXPECT_NEAR(mean / found.mean_ns, 1, 1e-12);
    EXPECT_GT(*found.functions[0].share.variance, 0.9);
    EXPECT_NEAR(*found.functions[1].share.variance, 0, 1e-12);
    EXPECT_THAT(found.states, IsEmpty());
}

// Of calls of which a function is no part it took no time.
TEST_F(ExplanationTest, APartThatIsNotInEveryCall) {
    call(2 * ms, {});
    call(4 * ms, {{lookup, 1, 2 * ms}});
    const Explanation found = explanation();
    EXPECT_DOUBLE_EQ(*found.functions[0].share.variance, 1);
    EXPECT_DOUBLE_EQ(found.functions[0].calls, 0.5);
    EXPECT_DOUBLE_EQ(found.functions[0].share.mean, 1 * ms);
    EXPECT_FALSE(found.functions[0].share.interval);
    EXPECT_THAT(to_text(explain_view(model, {}, ProbeId{1})), HasSubstr("Too few calls"));
}

TEST_F(ExplanationTest, EqualDurationsHaveNothingToExplain) {
    for (int i = 0; i < 150; i++)
        call(2 * ms, {{parse, 1, i * int64_t(us)}});
    EXPECT_THAT(to_text(explain_view(model, {}, ProbeId{1})),
                testing::AllOf(HasSubstr("equally long"), Not(HasSubstr("nan"))));
    EXPECT_TRUE(json::parse(explain_json(model, {}, ProbeId{1}))["functions"][0]["variance_share"]
                    .is_null());
}

TEST_F(ExplanationTest, OneLongCallIsSaidToBeOne) {
    for (int i = 0; i < 500; i++)
        call(2 * ms + static_cast<uint64_t>(i), {{parse, 1, ms}});
    call(900 * ms, {{parse, 1, 800 * ms}});
    EXPECT_THAT(to_text(explain_view(model, {}, ProbeId{1})),
                HasSubstr("rests on about 1 very long call:"));
}

TEST_F(ExplanationTest, IncompleteCallsAreCountedAndLeftOut) {
    incomplete(5 * ms);
    EXPECT_THAT(to_text(explain_view(model, {}, ProbeId{1})), HasSubstr("1 call of 5.00 ms"));
    call(2 * ms, {{parse, 1, ms}});
    call(3 * ms, {{parse, 1, ms}});
    incomplete(7 * ms);
    const Explanation found = explanation();
    EXPECT_EQ(found.calls, 2u);
    EXPECT_EQ(found.incomplete, 2u);
    EXPECT_DOUBLE_EQ(found.incomplete_mean_ns, 6 * ms);
    EXPECT_DOUBLE_EQ(found.mean_ns, 2.5 * ms);
}

TEST_F(ExplanationTest, CallsWithOtherPartsAreOfAnotherTable) {
    call(2 * ms, {{parse, 1, ms}}, 1);
    call(9 * ms, {{parse, 1, ms}}, 2);
    call(8 * ms, {{parse, 1, ms}}, 2);
    EXPECT_EQ(explanation().calls, 2u);
    EXPECT_DOUBLE_EQ(explanation().mean_ns, 8.5 * ms);
}

TEST_F(ExplanationTest, OfTheWindow) {
    for (int i = 0; i < 10; i++)
        call((1 + static_cast<uint64_t>(i)) * ms, {});
    model.on_time(now);
    EXPECT_EQ(explanation({Window::Kind::last, 35 * ms}).calls, 4u);
    EXPECT_EQ(explanation({Window::Kind::ewma, 35 * ms}).calls, 10u);
}

TEST_F(ExplanationTest, WhatTheThreadDidAddsUp) {
    call(2 * ms, {}, 1, 1, CallWaits{ms, 0});
    call(5 * ms, {}, 1, 1, CallWaits{3 * ms, 500 * us});
    call(9 * ms, {});
    const Explanation found = explanation();
    EXPECT_EQ(found.calls, 3u);
    EXPECT_EQ(found.state_calls, 2u);
    EXPECT_THAT(names(found.states), ElementsAre("blocked", "cpu", "runnable"));
    EXPECT_NEAR(*found.states[0].share.variance, 2.0 / 3, 1e-12);
    EXPECT_THAT(to_text(explain_view(model, {}, ProbeId{1})), HasSubstr("is known of 2 calls"));
}

TEST_F(ExplanationTest, OfASpanIsToldWhereItsTimeWent) {
    stream.edit_probe(1, "handle", {handle}, {});
    ProbeInfo info = *model.find_probe(ProbeId{1});
    info.span = "from f to g";
    model.on_probe(info);
    for (uint64_t i = 1; i < 4; i++) {
        CallPartsEvent event = ended(handle, i * 10 * ms, 1, 1);
        event.end.parked_ns = i * 8 * ms;
        event.end.queued_ns = ms;
        model.on_call_parts(event);
    }
    const Explanation found = explanation();
    EXPECT_THAT(names(found.states), ElementsAre("parked", "on a thread", "queued"));
    EXPECT_NEAR(*found.states[0].share.variance, 0.8, 1e-12);
    EXPECT_THAT(to_text(explain_view(model, {}, ProbeId{1})), Not(HasSubstr("own time")));
    // Of tasks whose runtime's switches are not watched there are durations alone.
    StatsEvent event;
    event.time_ns = now;
    event.spec = handle;
    event.entries = event.returns = 3;
    event.sum_ns = 60 * ms;
    event.min_ns = event.max_ns = 20 * ms;
    event.span.queued_ns = 3 * ms;
    model.on_stats(event);
    EXPECT_THAT(names(explanation().states), ElementsAre("parked", "served or parked", "queued"));
}

// What the probes themselves take is said where it matters.
TEST_F(ExplanationTest, CallsThatAreMadeOftenCost) {
    for (uint64_t i = 0; i < 150; i++)
        call(2 * ms + i * us, {{parse, 40, ms}, {lookup, 1, 10 * us}});
    LedgerEvent ledger;
    ledger.overhead.end_ns = now;
    ledger.overhead.causes = {{Overhead::Cause::Kind::probe, ProbeId{2}, 1'000, 7'000 * us},
                              {Overhead::Cause::Kind::probe, ProbeId{3}, 1'000, 7'000 * us}};
    model.on_ledger(ledger);
    EXPECT_DOUBLE_EQ(explanation().probing_ns, 2 * (40 + 1) * 7 * us);
    EXPECT_THAT(to_text(explain_view(model, {}, ProbeId{1})),
                HasSubstr("about 574 us of each call, most of it those of ns::parse"));
}

TEST_F(ExplanationTest, MatchesItsGoldenViewAndItsJson) {
    std::mt19937_64 random(7);
    for (uint64_t i = 0; i < 400; i++) {
        const uint64_t slow = i % 25 == 0 ? 4 * ms + random() % 4'000 * us : 0,
                       noise = random() % 300 * us;
        call(2 * ms + slow + noise,
             {{parse, 1, 1'500 * us}, {lookup, 2, int64_t(slow) + 40 * int64_t(us)}}, 1,
             slow ? 1 : 4, CallWaits{slow, noise / 2});
    }
    incomplete(12 * ms);
    ViewOptions options;
    options.width = 100;
    expect_golden("explain.txt", to_text(explain_view(model, options, ProbeId{1})));
    const json told = json::parse(explain_json(model, {}, ProbeId{1}));
    EXPECT_EQ(told["command"], "explain");
    EXPECT_EQ(told["calls"], 400);
    EXPECT_EQ(told["stands_for"], 16 + 384 * 4);
    EXPECT_EQ(told["incomplete"], 1);
    double sum = 0;
    for (const json& part : told["functions"])
        sum += part["variance_share"].get<double>();
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_EQ(told["functions"][0]["function"], "lookup");
    EXPECT_TRUE(told["functions"][2]["rest"].get<bool>());
    for (size_t width : {1, 40, 57, 200}) {
        options.width = width;
        const Canvas canvas = explain_view(model, options, ProbeId{1});
        for (size_t y = 0; y < canvas.height(); y++)
            EXPECT_LE(canvas.width(), std::max<size_t>(width, 40));
    }
}

// What samples know before anything but handle is timed.
class Candidates : public ExplanationTest {
  protected:
    // A call of handle that has one sample a millisecond, in `paths` in turn.
    void sampled(const std::vector<std::vector<std::string>>& inside) {
        const CallKey key = stream.call(handle, at_);
        for (const std::vector<std::string>& path : inside) {
            std::vector<std::string> whole{"main", "handle"};
            whole.insert(whole.end(), path.begin(), path.end());
            stream.sample(at_ += ms, 1, stream.stack(whole), {key});
        }
        const uint64_t duration = at_ - key.start_ns;
        stream.end(1, key, duration);
        durations_.push_back(duration);
        at_ += ms;
    }
    std::vector<std::string> picked(size_t most = 8) {
        stream.stats(at_, handle, durations_);
        durations_.clear();
        std::vector<std::string> all;
        for (const PartCandidate& each : part_candidates(model, ProbeId{1}, most).functions)
            all.push_back(each.probe);
        return all;
    }
    uint64_t at_ = 2'000 * ms;
    std::vector<uint64_t> durations_;
};

TEST_F(Candidates, AreTheFunctionsThatMakeTheDifference) {
    for (int i = 0; i < 50; i++) {
        sampled({{"decode"}, {"decode"}, {"decode"}, {"render", "c:memcpy"}});
        if (i % 10 == 0) {
            std::vector<std::vector<std::string>> slow(20,
                                                       {"fetch", "disk", "c:read", "k:vfs_read"});
            slow.push_back({"decode"});
            sampled(slow);
        }
    }
    // `disk` has all that `fetch` has; `decode` takes much and explains nothing.
    EXPECT_THAT(picked(), ElementsAre("disk", "decode", "render"));
    EXPECT_THAT(picked(1), ElementsAre("disk"));
    stream.probe(9, "disk");
    EXPECT_THAT(picked(), ElementsAre("decode", "render")) << "fetch has nothing left";
}

TEST_F(Candidates, OfRecursionCountOnce) {
    for (int i = 0; i < 20; i++) {
        sampled({{"walk", "walk", "walk"}, {"walk"}});
        sampled({{"walk"}, {"walk", "walk"}, {"walk", "step", "walk"}, {"other"}});
    }
    const PartCandidates found = [&] {
        picked();
        return part_candidates(model, ProbeId{1}, 8);
    }();
    for (const PartCandidate& each : found.functions)
        EXPECT_LE(each.duration, 1);
    EXPECT_EQ(found.samples, 20u * 6);
    EXPECT_EQ(found.calls, 40u);
}

TEST_F(Candidates, AreNoneWithoutCalls) {
    EXPECT_THAT(picked(), IsEmpty());
    EXPECT_EQ(part_candidates(model, ProbeId{77}, 8).samples, 0u);
}

} // namespace
} // namespace auger
