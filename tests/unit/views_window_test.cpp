// SPDX-License-Identifier: GPL-3.0-or-later
// Windows that end in the past, and ranges of durations, in everything that takes them.
#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/format.h"
#include "views/json/json_views.h"
#include "views/model/diff.h"
#include "views/model/slow_call_query.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

// Every 100 ms a call of i ms, sampled 1 ms after it began.
class Windows : public testing::Test {
  protected:
    Windows() {
        stream.split(1, stream.fixed(50 * ms));
        for (uint64_t i = 1; i <= 100; i++) {
            CallKey call = stream.call(handle, i * 100 * ms);
            stream.sample(i * 100 * ms + ms, 1, stack, {call});
            stream.end(1, call, i * ms);
            stream.stats(i * 100 * ms + 99 * ms, handle, {i * ms});
            SlowCallEvent slow;
            slow.end = {i * 100 * ms + i * ms, i * ms, stream.thread(1), call, 1, false};
            slow.stack = stack;
            if (i % 10 == 0)
                model.on_slow_call(slow);
        }
        stream.stats(11'000 * ms, handle, {}); // now
    }
    double samples(const Window& window, const ClassFilter& filter = {}) const {
        return fold(model, window, filter).total().samples;
    }
    static ClassFilter range(uint64_t from, uint64_t to = UINT64_MAX) {
        ClassFilter filter;
        filter.range = DurationRange{from, to};
        return filter;
    }
    static Window last(uint64_t span, uint64_t end) { return {Window::Kind::last, span, end}; }

    Model model;
    SyntheticStream stream{model};
    SpecId handle = stream.probe(1, "handle", SyntheticStream::fixed(ms));
    StackId stack = stream.stack({"main", "handle"});
};

TEST_F(Windows, EndWhereTheyAreToldTo) {
    EXPECT_EQ(samples({}), 100);
    EXPECT_EQ(samples({Window::Kind::all, 0, 5001 * ms}), 50);
    EXPECT_EQ(samples({Window::Kind::all, 0, 5001 * ms - 1}), 49);
    EXPECT_EQ(samples(last(1000 * ms, 5001 * ms)), 11); // both ends are in it
    EXPECT_EQ(samples(last(1000 * ms, 5000 * ms)), 10);
    EXPECT_EQ(samples(last(500 * ms, 50 * ms)), 0);
    FlameTree tree = fold(model, last(1000 * ms, 5000 * ms));
    EXPECT_EQ(tree.from_ns, 4000 * ms);
    EXPECT_EQ(tree.to_ns, 5000 * ms);
    // What came later makes no difference.
    double faded = samples({Window::Kind::ewma, 100 * ms, 5001 * ms});
    EXPECT_NEAR(faded, 1 / (1 - std::exp(-1)), 1e-9);
}

TEST_F(Windows, CountCallsAndShowSlowOnesOfThatTime) {
    EXPECT_EQ(model.probe_statistics(ProbeId{1}, last(1000 * ms, 5099 * ms)).returns, 11);
    EXPECT_EQ(model.probe_statistics(ProbeId{1}, {Window::Kind::all, 0, 5099 * ms}).returns, 50);
    EXPECT_LE(model.probe_statistics(ProbeId{1}, {Window::Kind::all, 0, 5099 * ms}).max_ns,
              51 * ms);
    Classifier classify(model);
    auto found = find_slow_calls(model, classify, last(1500 * ms, 5050 * ms), {});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0]->end.duration_ns, 40 * ms);
    auto diff =
        diff_classes(model, {Window::Kind::all, 0, 6099 * ms}, CallClass::slow, CallClass::fast);
    ASSERT_TRUE(diff);
    EXPECT_NEAR(diff->first.calls, 10, 1); // 50 ms lies within a bucket of the histogram
    EXPECT_NEAR(diff->second.calls, 50, 1);
    EXPECT_EQ(diff->first.samples.samples, 10);
    EXPECT_EQ(diff->second.samples.samples, 50);
}

TEST_F(Windows, AreToldInTextAndJson) {
    EXPECT_EQ(format_window(last(1000 * ms, 5101 * ms), 101 * ms), "last 1.00 s until +5.000 s");
    EXPECT_EQ(format_window({}, 101 * ms), "all");
    EXPECT_NE(flame_json(model, last(1000 * ms, 5000 * ms))
                  .find(R"("span":1000000000,"until":5000000000})"),
              std::string::npos);
}

TEST_F(Windows, RangesAreOfTheOutermostCallsDuration) {
    EXPECT_EQ(samples({}, range(10 * ms, 20 * ms)), 10); // with its first, without its last
    EXPECT_EQ(samples({}, range(91 * ms)), 10);
    EXPECT_EQ(samples({}, range(0, 11 * ms)), 10);
    ClassFilter slow = range(0, 61 * ms);
    slow.duration = CallClass::slow;
    EXPECT_EQ(samples({}, slow), 10);
    // Inside another call of the probe, and outside of all.
    CallKey outer = stream.call(handle, 12'000 * ms), inner = stream.call(handle, 12'001 * ms);
    stream.sample(12'002 * ms, 1, stack, {outer, inner});
    stream.sample(12'500 * ms, 1, stack);
    stream.end(1, inner, 15 * ms);
    EXPECT_EQ(samples({}, range(10 * ms, 20 * ms)), 10);
    // A call that runs still is only in a range that it can no longer leave.
    EXPECT_EQ(samples({}, range(500 * ms)), 1);
    EXPECT_EQ(samples({}, range(501 * ms)), 0);
    EXPECT_EQ(samples({}, range(400 * ms, 600 * ms)), 0);
    stream.end(1, outer, 15 * ms);
    EXPECT_EQ(samples({}, range(10 * ms, 20 * ms)), 11);
    EXPECT_TRUE(lacking_part(Model(1), range(1)).has_value());
}

TEST_F(Windows, RangesCompareWithTheirCallsCounted) {
    auto diff = diff_classes(model, {}, range(50 * ms), range(0, 50 * ms));
    ASSERT_TRUE(diff) << diff.error().message();
    // To the width of a bucket of the histogram.
    EXPECT_NEAR(diff->first.calls, 51, 0.6);
    EXPECT_NEAR(diff->second.calls, 49, 0.6);
    EXPECT_FALSE(diff->first.estimated);
    EXPECT_EQ(diff->first.sampled_calls, 51);
    EXPECT_FALSE(diff_classes(model, {}, range(50 * ms), range(0, 51 * ms)));
}

} // namespace
} // namespace auger
