// SPDX-License-Identifier: GPL-3.0-or-later
// The flame and the timeline that follow a model, against those that are worked out anew.
#include "tests/support/durations.h"
#include "tests/unit/random_stream.h"
#include "views/model/flame_stream.h"
#include "views/model/sample_pass.h"
#include "views/model/timeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace auger {
namespace {

using Sums = std::map<std::string, ClassSums>; // of nodes by path, their own ones with " self"

Sums sums_of(const Model& model, const FlameTree& tree) {
    Sums sums;
    for (uint32_t i = 0; i < tree.nodes.size(); i++) {
        if (i && tree.nodes[i].held == 0)
            continue;
        FlamePath path = tree.path(i);
        EXPECT_EQ(tree.find(path), i);
        std::string text = path.label.value_or("");
        for (FunctionId function : path.functions)
            text += ";" + std::string(model.symbols().name(function)) +
                    (model.symbols().function(function).kernel ? "_[k]" : "");
        sums[text] = tree.classes(i);
        sums[text + " self"] = tree.self_classes(i);
        EXPECT_NEAR(tree.samples(i), tree.total(i).samples, 1e-9 * tree.samples(i) + 1e-12);
    }
    return sums;
}

// Exactly, or but for what is too faint to be kept.
void expect_same(const Sums& stream, const Sums& anew, bool decayed, double faint) {
    static const ClassSums none;
    double whole = 0;
    for (const SampleSum& sum : anew.at("").by_class)
        whole += sum.weight_ns;
    double error = decayed ? 1e-9 * whole + faint : 0;
    auto all = anew;
    all.insert(stream.begin(), stream.end());
    for (const auto& [path, sums] : all) {
        const ClassSums& a = stream.contains(path) ? stream.at(path) : none;
        const ClassSums& b = anew.contains(path) ? anew.at(path) : none;
        for (CallClass c : all_call_classes) {
            ASSERT_NEAR(a[c].weight_ns, b[c].weight_ns, error) << path << " " << to_string(c);
            ASSERT_NEAR(a[c].samples, b[c].samples, error) << path << " " << to_string(c);
            ASSERT_NEAR(a[c].blocked_ns, b[c].blocked_ns, error) << path;
            ASSERT_NEAR(a[c].runnable_ns, b[c].runnable_ns, error) << path;
        }
    }
}

FlameQuery random_query(RandomStream& stream) {
    FlameQuery query;
    query.window.kind = static_cast<Window::Kind>(stream.below(3));
    if (query.window.kind != Window::Kind::all)
        query.window.span_ns = (1 + stream.below(2000)) * ms;
    if (stream.below(4) == 0)
        query.window.end_ns = stream.model.now_ns() - stream.below(1000) * ms;
    if (stream.below(2))
        query.filter.duration = static_cast<CallClass>(stream.below(4));
    if (stream.below(4) == 0)
        query.filter.range =
            DurationRange{stream.below(40) * ms, stream.below(2) ? UINT64_MAX : 60 * ms};
    if (stream.below(4) == 0)
        query.filter.taken = stream.below(2) > 0;
    if (stream.below(5) == 0)
        query.filter.label = "3";
    if (stream.below(4) == 0)
        query.filter.in = StackChoice{stream.below(2) ? "parse" : "inner", stream.below(2) > 0};
    query.by = *GroupBy::named(GroupBy::names()[stream.below(GroupBy::names().size())]);
    return query;
}

class FollowedStream : public testing::TestWithParam<uint32_t> {};

TEST_P(FollowedStream, EqualsAFoldOfEverything) {
    RandomStream stream(GetParam(), GetParam() % 3 ? 300 : 5000);
    FlameStream flame;
    FlameQuery query;
    for (int step = 0; step < 400; step++) {
        for (uint64_t events = stream.below(30); events; events--)
            stream.event();
        if (stream.below(12) == 0)
            query = random_query(stream);
        if (stream.below(3)) { // in slices, between which more comes
            flame.refresh(stream.model, query, stream.below(300));
            continue;
        }
        while (flame.refresh(stream.model, query, 1 + stream.below(5000)))
            ;
        ASSERT_EQ(flame.query(), query);
        FlameTree anew = fold(stream.model, query.window, query.filter, query.by);
        ASSERT_EQ(flame.tree().to_ns, anew.to_ns);
        ASSERT_EQ(flame.tree().from_ns, anew.from_ns);
        bool decayed = query.window.kind == Window::Kind::ewma;
        double faint = flame.tree().faded.weight_ns * flame.tree().scale;
        // Nor is one that was let go before its call ended, and is shown only since: it counts for
        // no more than that, after twenty time constants.
        for (size_t i = 0; i < stream.model.samples().size(); i++)
            faint += std::exp(-20.0) * static_cast<double>(stream.model.samples().weights()[i]);
        expect_same(sums_of(stream.model, flame.tree()), sums_of(stream.model, anew), decayed,
                    faint);
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "seed " << GetParam() << " step " << step << " class "
                          << to_string(query.filter);
            return;
        }
    }
}

// By begin of the bucket: samples where they are, the weight of waits wherever they lasted.
std::map<uint64_t, ClassSums> counted(const Model& model, const TimelineQuery& query) {
    std::map<uint64_t, ClassSums> sums;
    const SampleStore& samples = model.samples();
    const Classifier classify(model);
    const ClassTest is_shown(model, classify, query.filter);
    const uint64_t width = query.bucket_ns;
    for (size_t i = 0; i < samples.size(); i++) {
        const uint64_t to = samples.times()[i], weight = samples.weights()[i];
        const CallIndex call = samples.calls()[i];
        if (!is_shown(call, to, samples.threads()[i], samples.stacks()[i]))
            continue;
        const CallClass of = classify(call, to);
        sums[to / width * width][of].samples++;
        uint64_t from = to - std::min(to, weight);
        if (samples.kinds()[i] == SampleKind::cpu || from == to)
            sums[to / width * width][of].weight_ns += static_cast<double>(weight);
        else
            for (uint64_t end; from < to; from = end) {
                end = std::min(to, (from / width + 1) * width);
                sums[from / width * width][of].weight_ns += static_cast<double>(end - from);
            }
    }
    return sums;
}

TEST_P(FollowedStream, TimelineEqualsACountOfEverything) {
    RandomStream stream(GetParam() + 1000, GetParam() % 3 ? 300 : 5000);
    Timeline timeline;
    TimelineQuery query{100 * ms, 3000 * ms, {}};
    for (int step = 0; step < 200; step++) {
        for (uint64_t events = stream.below(30); events; events--)
            stream.event();
        if (stream.below(20) == 0)
            query.filter = random_query(stream).filter;
        if (stream.model.now_ns() == 0 || stream.below(3)) {
            timeline.refresh(stream.model, query, stream.below(300));
            continue;
        }
        while (timeline.refresh(stream.model, query, 1 + stream.below(5000)))
            ;
        const std::vector<TimelineBucket>& buckets = timeline.buckets();
        ASSERT_EQ(buckets.back().from_ns, stream.model.now_ns() / (100 * ms) * (100 * ms));
        ASSERT_LE(buckets.size(), 31u);
        const std::map<uint64_t, ClassSums> anew = counted(stream.model, query);
        for (const TimelineBucket& bucket : buckets) {
            const auto found = anew.find(bucket.from_ns);
            const ClassSums expected = found == anew.end() ? ClassSums{} : found->second;
            for (CallClass c : all_call_classes) {
                ASSERT_EQ(bucket.samples[c].samples, expected[c].samples) << "step " << step;
                ASSERT_NEAR(bucket.samples[c].weight_ns, expected[c].weight_ns, 1e-3);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FollowedStream, testing::Range(1u, 25u));

// A thread that waited for 10 s beside one that worked all the time: each second has two, though
// the wait was told of in the last one only.
TEST(TimeStrip, AWaitIsInAllColumnsThatItSpanned) {
    Model model;
    SyntheticStream stream(model);
    const StackId work = stream.stack({"main", "work"}), idle = stream.stack({"main", "idle"});
    constexpr uint64_t second = 1000 * ms;
    for (uint64_t at = 0; at < 10 * second; at += 10 * ms)
        stream.sample(1'000 * second + at, 1, work, {}, 10 * ms);
    stream.sample(1'010 * second - 1, 2, idle, {}, 10 * second - 1, SampleKind::blocked);
    Timeline timeline;
    while (timeline.refresh(model, {second, 60 * second, {}}))
        ;
    ASSERT_EQ(timeline.buckets().size(), 10u);
    double weight = 0, samples = 0;
    for (const TimelineBucket& bucket : timeline.buckets()) {
        const SampleSum sum = bucket.samples.sum();
        EXPECT_NEAR(sum.weight_ns, 2e9, 1);
        EXPECT_NEAR(sum.blocked_ns, 1e9, 1);
        weight += sum.weight_ns;
        samples += sum.samples;
    }
    EXPECT_EQ(weight, 20e9 - 1); // nothing is lost, nothing twice
    EXPECT_EQ(samples, static_cast<double>(model.samples().size()));
}

class Flames : public testing::Test {
  protected:
    void refresh(const FlameQuery& query) {
        while (flame.refresh(model, query))
            ;
    }
    double samples(const FlamePath& path) const {
        auto node = flame.tree().find(path);
        return node ? flame.tree().total(*node).samples : 0;
    }
    FlamePath path(const std::vector<std::string>& names) const {
        FlamePath path;
        path.label = "service";
        for (const std::string& name : names)
            for (uint32_t i = 0; i < model.symbols().functions(); i++)
                if (model.symbols().name(FunctionId{i}) == name)
                    path.functions.push_back(FunctionId{i});
        return path;
    }
    static FlameQuery ewma(uint64_t tau) {
        FlameQuery query;
        query.window = {Window::Kind::ewma, tau};
        return query;
    }

    Model model{100'000};
    SyntheticStream stream{model};
    FlameStream flame;
};

TEST_F(Flames, FadeByTheClosedForm) {
    StackId stack = stream.stack({"main", "work"});
    uint64_t now = 1000 * ms;
    for (int i = 0; i < 20'000; i++, now += 10 * ms) { // 2,000 time constants
        stream.sample(now, 1, stack);
        if (i % 50 == 0)
            refresh(ewma(100 * ms));
    }
    refresh(ewma(100 * ms));
    const double steady = 1 / (1 - std::exp(-0.1));
    EXPECT_NEAR(flame.tree().total().samples, steady, 1e-7);
    EXPECT_NEAR(flame.tree().weight_ns(0), steady * 1e6, 0.1);
    model.on_time(model.now_ns() + 200 * ms);
    refresh(ewma(100 * ms));
    EXPECT_NEAR(flame.tree().total().samples, steady * std::exp(-2), 1e-7);
    // After a silence of a thousand time constants nothing is left, and nothing breaks.
    model.on_time(model.now_ns() + 100'000 * ms);
    refresh(ewma(100 * ms));
    EXPECT_EQ(flame.tree().total().samples, 0);
    EXPECT_EQ(flame.tree().frames(), 1u);
    stream.sample(model.now_ns(), 1, stack);
    refresh(ewma(100 * ms));
    EXPECT_EQ(flame.tree().total().samples, 1);
}

TEST_F(Flames, GiveSamplesTheirClassWhenTheCallEnds) {
    SpecId handle = stream.probe(1, "handle");
    stream.split(1, stream.fixed(10 * ms));
    CallKey call = stream.call(handle, 100 * ms), fast = stream.call(handle, 100 * ms);
    stream.sample(101 * ms, 1, stream.stack({"main", "a"}), {call});
    stream.sample(101 * ms, 2, stream.stack({"main", "b"}), {fast});
    FlameQuery slow;
    slow.filter = CallClass::slow;
    refresh({});
    EXPECT_EQ(flame.tree().classes()[CallClass::open].samples, 2);
    uint64_t generation = flame.generation();
    stream.end(2, fast, 9 * ms);
    refresh({});
    EXPECT_EQ(flame.tree().classes()[CallClass::fast].samples, 1);
    model.on_time(111 * ms); // the other has outlived the threshold
    refresh({});
    EXPECT_EQ(flame.tree().classes()[CallClass::slow].samples, 1);
    EXPECT_EQ(flame.generation(), generation); // followed, not folded anew
    refresh(slow);
    EXPECT_EQ(flame.tree().total().samples, 1);
    EXPECT_EQ(samples(path({"main", "b"})), 0);
    stream.split(1, stream.fixed(5 * ms));
    refresh(slow);
    EXPECT_EQ(flame.tree().total().samples, 2);
}

TEST_F(Flames, ShowTheOldTreeUntilTheNewOneIsWhole) {
    for (uint64_t i = 1; i <= 1000; i++)
        stream.sample(i * ms, 1, stream.stack({"main", i % 2 ? "odd" : "even"}));
    refresh({});
    FlameQuery last;
    last.window = {Window::Kind::last, 100 * ms};
    size_t slices = 1;
    for (; flame.refresh(model, last, 50); slices++) {
        ASSERT_EQ(flame.tree().total().samples, 1000);
        ASSERT_EQ(flame.query(), FlameQuery{});
    }
    EXPECT_GT(slices, 10u);
    EXPECT_EQ(flame.tree().total().samples, 101);
    // The question before, asked again before the answer to another is whole, costs nothing.
    flame.refresh(model, {}, 50);
    uint64_t generation = flame.generation();
    EXPECT_FALSE(flame.refresh(model, last, 50));
    EXPECT_EQ(flame.generation(), generation);
}

TEST_F(Flames, FramesKeepTheirPathWhateverBecomesOfTheTree) {
    StackId stack = stream.stack({"main", "a", "b"});
    stream.sample(ms, 1, stack);
    refresh({});
    FlamePath deep = path({"main", "a", "b"});
    ASSERT_TRUE(flame.tree().find(deep));
    FlameQuery last;
    last.window = {Window::Kind::last, 10 * ms};
    stream.sample(100 * ms, 1, stream.stack({"main", "a", "c"}));
    refresh(last);
    EXPECT_FALSE(flame.tree().find(deep));
    EXPECT_EQ(flame.tree().path(flame.tree().nearest(deep)), path({"main", "a"}));
    stream.sample(101 * ms, 1, stack);
    refresh(last);
    EXPECT_EQ(samples(deep), 1);
}

// Three days of a service whose stacks change all the time: what is held depends on the window, not
// on how long it runs.
TEST(FlameSoak, MemoryIsBoundedUnderDaysOfChurn) {
    Model model(20'000);
    SyntheticStream stream(model);
    std::vector<StackId> stacks;
    for (int i = 0; i < 6000; i++)
        stacks.push_back(stream.stack({"main", "a" + std::to_string(i % 7),
                                       "b" + std::to_string(i % 61), "c" + std::to_string(i)}));
    FlameStream fading, last, all;
    FlameQuery ewma, minute, everything;
    ewma.window = {Window::Kind::ewma, 10'000 * ms};
    minute.window = {Window::Kind::last, 60'000 * ms};
    size_t after_a_day = 0, most_frames = 0;
    std::mt19937 random(5);
    for (uint64_t minutes = 0; minutes < 3 * 24 * 60; minutes++) {
        for (uint64_t i = 0; i < 100; i++)
            stream.sample(1 + (minutes * 60'000 + i * 600) * ms, 1 + random() % 4,
                          stacks[(minutes * 40 + random() % 200) % stacks.size()]);
        while (fading.refresh(model, ewma) || last.refresh(model, minute) ||
               all.refresh(model, everything))
            ;
        most_frames = std::max(most_frames, fading.tree().frames());
        size_t held = fading.memory_bytes() + last.memory_bytes() + all.memory_bytes();
        if (minutes < 24 * 60)
            after_a_day = std::max(after_a_day, held);
        else
            ASSERT_LE(held, after_a_day);
    }
    EXPECT_LT(most_frames, 1000u); // of some 6,000 that were there
    const SampleSum faded = fading.tree().total(), anew = fold(model, ewma.window).total();
    EXPECT_NEAR(faded.samples, anew.samples, 1e-6);
    EXPECT_EQ(last.tree().total().samples, fold(model, minute.window).total().samples);
    EXPECT_EQ(all.tree().total().samples, 20'000);
}

} // namespace
} // namespace auger
