// SPDX-License-Identifier: GPL-3.0-or-later
// The flame and the timeline that follow a model, against those that are worked out anew.
#include "tests/unit/random_stream.h"
#include "views/model/flame_stream.h"
#include "views/model/timeline.h"

#include <gtest/gtest.h>

#include <cmath>

namespace auger {
namespace {

constexpr uint64_t ms = 1'000'000;

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
    query.by = static_cast<GroupBy>(stream.below(5));
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
        expect_same(sums_of(stream.model, flame.tree()), sums_of(stream.model, anew), decayed,
                    faint);
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "seed " << GetParam() << " step " << step << " class "
                          << to_string(query.filter);
            return;
        }
    }
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
        for (const TimelineBucket& bucket : buckets) {
            Window window{Window::Kind::last, 100 * ms - 1, bucket.from_ns + 100 * ms - 1};
            ClassSums anew;
            for (const ClassSums& sums :
                 sum_stacks(stream.model, Classifier(stream.model), window, query.filter))
                anew += sums;
            for (CallClass c : all_call_classes) {
                ASSERT_EQ(bucket.samples[c].samples, anew[c].samples) << "step " << step;
                ASSERT_EQ(bucket.samples[c].weight_ns, anew[c].weight_ns);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FollowedStream, testing::Range(1u, 25u));

} // namespace
} // namespace auger
