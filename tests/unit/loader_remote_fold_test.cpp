// SPDX-License-Identifier: GPL-3.0-or-later
// What a relay folds weighs what it weighed, and is in the class that it was in, by every threshold
// at an edge of its durations.
#include "loader/remote/sample_fold.h"
#include "loader/stats/histogram.h"
#include "loader/stream/quiet_sink.h"
#include "loader/stream/tee.h"
#include "tests/support/durations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <tuple>

namespace auger::remote {
namespace {

constexpr uint64_t second = 1'000'000'000;

// Samples by the calls around them, of which the durations are known in the end.
class Collected final : public QuietSink {
  public:
    struct Sample {
        SampleEvent event;
        std::vector<CallKey> calls;
    };
    std::vector<Sample> samples;
    std::vector<CallEndEvent> ends;
    std::vector<StatsEvent> stats;
    std::vector<LedgerEvent> ledgers;
    std::vector<uint64_t> times;
    std::vector<std::string> order; // of samples and ends: "s", "e"

    void on_thread(ThreadId id, const ThreadInfo& info) override {
        threads_.insert_or_assign(id, info);
    }
    void on_sample(const SampleEvent& event) override {
        samples.push_back({event, {event.calls.begin(), event.calls.end()}});
        order.push_back("s");
    }
    void on_call_end(const CallEndEvent& end) override {
        ends.push_back(end);
        order.push_back("e");
    }
    void on_stats(const StatsEvent& event) override { stats.push_back(event); }
    void on_ledger(const LedgerEvent& event) override { ledgers.push_back(event); }
    void on_time(uint64_t time_ns) override { times.push_back(time_ns); }

    const CallEndEvent* end_of(const CallKey& call) const {
        const auto found = std::ranges::find(ends, call, &CallEndEvent::call);
        return found != ends.end() ? &*found : nullptr;
    }
    // By machine, process, stack, kind, and how long each call around it is: 0 fast, 1 slow, 2
    // open; all calls, by the function of each.
    using Key = std::vector<uint64_t>;
    std::map<Key, uint64_t> weights(uint64_t threshold_ns) const {
        std::map<CallKey, uint64_t, decltype([](const CallKey& a, const CallKey& b) {
                     return std::tie(a.start_ns, a.sequence, a.spec) <
                            std::tie(b.start_ns, b.sequence, b.spec);
                 })>
            durations;
        for (const CallEndEvent& end : ends)
            durations[end.call] = end.duration_ns;
        std::map<Key, uint64_t> weights;
        for (const Sample& sample : samples) {
            const ThreadInfo& thread = threads_.at(sample.event.thread);
            Key key{thread.machine.value, thread.pid, sample.event.stack.value,
                    static_cast<uint64_t>(sample.event.kind)};
            for (const CallKey& call : sample.calls) {
                key.push_back(call.spec.value);
                const auto duration = durations.find(call);
                key.push_back(duration == durations.end()       ? 2
                              : duration->second > threshold_ns ? 1
                                                                : 0);
            }
            weights[key] += sample.event.weight_ns;
        }
        return weights;
    }

  private:
    std::map<ThreadId, ThreadInfo> threads_;
};

class Folding : public testing::Test {
  protected:
    Folding() {
        both.add(fold);
        both.add(whole);
        for (uint32_t i = 0; i < 8; i++)
            both.on_thread(ThreadId{i}, {100 + i / 2, 100 + i, "service", "", MachineId{i / 4}});
    }
    void sample(uint64_t time, uint32_t thread, uint32_t stack, std::vector<CallKey> calls,
                SampleKind kind = SampleKind::cpu) {
        SampleEvent event;
        event.time_ns = time;
        event.weight_ns = 10 * ms;
        event.thread = ThreadId{thread};
        event.stack = StackId{stack};
        event.kind = kind;
        event.calls = calls;
        both.on_sample(event);
    }
    CallEndEvent end(uint64_t time, uint32_t thread, const CallKey& call) {
        CallEndEvent event;
        event.time_ns = time;
        event.duration_ns = time - call.start_ns;
        event.thread = ThreadId{thread};
        event.call = call;
        event.samples = 1;
        return event;
    }
    CallKey call(uint64_t start, uint32_t spec = 0) { return {start, sequence_++, SpecId{spec}}; }

    Collected whole, folded;
    SampleFold fold{folded};
    Tee both;

  private:
    uint32_t sequence_ = 1000;
};

TEST_F(Folding, KeepsWeightsAndClassesAtEveryEdge) {
    std::mt19937_64 random(5);
    uint64_t now = 10 * second;
    for (int i = 0; i < 800; i++) {
        const auto thread = static_cast<uint32_t>(random() % 8);
        const auto stack = static_cast<uint32_t>(random() % 3);
        const uint64_t length = uint64_t{1} << (10 + random() % 15);
        const CallKey outer = call(now), inner = call(now + 1, 1);
        const bool nested = random() % 3 == 0;
        std::vector<CallKey> calls{outer};
        if (nested)
            calls.push_back(inner);
        for (uint64_t n = 0; n < 1 + random() % 2; n++)
            sample(now + 2 + n, thread, stack, calls,
                   random() % 4 ? SampleKind::cpu : SampleKind::blocked);
        if (random() % 5 == 0)
            sample(now + 4, thread, stack, {});
        now += 10 + length + random() % length;
        if (nested)
            both.on_call_end(end(now - 3, thread, inner));
        if (i % 100 != 7) // that one never ends
            both.on_call_end(end(now, thread, outer));
        both.on_time(now);
    }
    fold.flush();
    for (uint32_t edge = 0; edge < histogram_buckets;
         edge += buckets_an_octave / SampleFold::classes_an_octave) {
        const uint64_t low = bucket_low(edge);
        if (low > 0) {
            ASSERT_EQ(folded.weights(low - 1), whole.weights(low - 1)) << low;
        }
    }
    EXPECT_EQ(fold.samples_in(), whole.samples.size());
    EXPECT_EQ(fold.samples_out(), folded.samples.size());
    EXPECT_LT(folded.samples.size(), whole.samples.size());
    EXPECT_EQ(folded.times.back(), now);
    EXPECT_TRUE(std::ranges::is_sorted(folded.times));
}

TEST_F(Folding, OneCallStandsForSeveral) {
    for (int i = 0; i < 10; i++) {
        const CallKey one = call(second + 10 * i * ms);
        sample(one.start_ns + ms, 0, 1, {one});
        both.on_call_end(end(one.start_ns + 2 * ms + 1000 * i, 0, one));
    }
    both.on_time(3 * second);
    ASSERT_EQ(folded.samples.size(), 1u);
    ASSERT_EQ(folded.ends.size(), 1u);
    const CallEndEvent& one = folded.ends[0];
    EXPECT_EQ(folded.samples[0].event.weight_ns, 100 * ms);
    EXPECT_EQ(folded.samples[0].event.stands_for, 10u);
    EXPECT_THAT(folded.samples[0].calls, testing::ElementsAre(one.call));
    EXPECT_EQ(one.duration_ns, 2 * ms + 4500);
    EXPECT_LE(one.call.start_ns, folded.samples[0].event.time_ns);
    EXPECT_GE(one.time_ns, folded.samples[0].event.time_ns);
    EXPECT_THAT(folded.order, testing::ElementsAre("s", "e"));
}

// What shares no class, or is more than its duration, is told apart.
TEST_F(Folding, KeepsApartWhatIsAskedFor) {
    const auto add = [&](uint32_t thread, uint32_t stack, uint64_t duration,
                         const std::function<void(CallEndEvent&)>& change) {
        const CallKey one = call(second);
        sample(second + 1, thread, stack, {one});
        CallEndEvent event = end(second + duration, thread, one);
        change(event);
        both.on_call_end(event);
    };
    const auto nothing = [](CallEndEvent&) {};
    add(0, 0, ms, nothing);
    add(1, 0, ms, nothing);     // of the same process: with the first
    add(0, 0, 2 * ms, nothing); // each of these by itself
    add(0, 1, ms, nothing);
    add(2, 0, ms, nothing);
    add(4, 0, ms, nothing);
    add(0, 0, ms, [](CallEndEvent& event) { event.marks = 1; });
    add(0, 0, ms, [](CallEndEvent& event) { event.label = LabelId{3}; });
    add(0, 0, ms, [](CallEndEvent& event) { event.unwound = true; });
    add(0, 0, ms, [](CallEndEvent& event) { event.waits = CallWaits{1, 2}; });
    fold.flush();
    EXPECT_EQ(folded.samples.size(), 9u);
    EXPECT_EQ(folded.weights(ms / 2), whole.weights(ms / 2));
}

TEST_F(Folding, LeavesAsTheyAreWhatItCannotFold) {
    CallKey span = call(second);
    span.sequence |= CallKey::no_thread_bit;
    const CallKey open = call(second), filtered = call(second), slow = call(second);
    for (const CallKey& one : {span, open, filtered, slow})
        for (int i = 0; i < 3; i++)
            sample(second + 10, 0, 0, {one});
    both.on_call_end(end(second + ms, 0, span));
    CallEndEvent left_out = end(second + ms, 0, filtered);
    left_out.filtered = true;
    both.on_call_end(left_out);
    both.on_call_end(end(second + ms, 0, slow));
    SlowCallEvent told;
    told.end = end(second + ms, 0, slow);
    both.on_slow_call(told);
    both.on_time(3 * second);
    EXPECT_EQ(folded.samples.size(), 12u);
    for (const CallKey& one : {span, filtered, slow})
        EXPECT_TRUE(folded.end_of(one));
    EXPECT_FALSE(folded.end_of(open));
    // Its end comes, and so does that of a call of which samples had gone on.
    sample(3 * second + 1, 0, 0, {open});
    both.on_call_end(end(3 * second + ms, 0, open));
    fold.flush();
    EXPECT_EQ(folded.samples.size(), 13u);
    EXPECT_TRUE(folded.end_of(open));
    EXPECT_EQ(folded.weights(ms), whole.weights(ms));
}

// A sample in a call that is open makes all whole that are in its other calls, and so on.
TEST_F(Folding, GoesThroughChainsOfCallsOnce) {
    constexpr size_t length = 100'000;
    std::vector<CallKey> calls;
    for (size_t i = 0; i <= length; i++)
        calls.push_back(call(second));
    for (size_t i = 0; i < length; i++)
        sample(second + 10, 0, 0, {calls[i], calls[i + 1]});
    for (size_t i = 0; i < length; i++) // but for the last
        both.on_call_end(end(second + ms, 0, calls[i]));
    fold.flush();
    EXPECT_EQ(folded.samples.size(), length);
    EXPECT_EQ(folded.ends.size(), length);
}

TEST_F(Folding, AThreadOfNoKnownProcessIsNoProcess) {
    sample(second, 0, 0, {}); // of process 100
    sample(second, 100, 0, {});
    fold.flush();
    EXPECT_EQ(folded.samples.size(), 2u);
}

// By how long a call had lasted when it was sampled.
TEST_F(Folding, DoesNotFoldWhatIsSplitSoFar) {
    both.on_split({true, ProbeId{1}, {Threshold::Kind::fixed, ms, 0}, true});
    for (int i = 0; i < 4; i++) {
        const CallKey one = call(second);
        sample(second + 10, 0, 0, {one});
        both.on_call_end(end(second + ms, 0, one));
    }
    fold.flush();
    EXPECT_EQ(folded.samples.size(), 4u);
    EXPECT_EQ(folded.ends.size(), 4u);
}

// Marks of calls are of what was in force.
TEST_F(Folding, TellsWhatWasBeforeAnEditBeforeIt) {
    sample(second, 0, 0, {});
    both.on_only({});
    EXPECT_EQ(folded.samples.size(), 1u);
    sample(second, 0, 0, {});
    both.on_split({});
    EXPECT_EQ(folded.samples.size(), 2u);
}

// Of an agent that was lost it is said that its open calls are dropped, and nothing else.
TEST_F(Folding, DroppedCallsHaveNoDurations) {
    StatsEvent stats;
    stats.time_ns = second;
    stats.entries = 2;
    stats.returns = 1;
    stats.open = 1;
    stats.sum_ns = stats.min_ns = stats.max_ns = 5;
    stats.buckets = {{5, 1}};
    both.on_stats(stats);
    StatsEvent gone;
    gone.time_ns = second + 1;
    gone.open = -1;
    gone.dropped = 1;
    both.on_stats(gone);
    fold.flush();
    ASSERT_EQ(folded.stats.size(), 1u);
    EXPECT_EQ(folded.stats[0].open, 0);
    EXPECT_EQ(folded.stats[0].dropped, 1u);
    EXPECT_EQ(folded.stats[0].min_ns, 5u);
    EXPECT_EQ(folded.stats[0].max_ns, 5u);
}

TEST_F(Folding, StatisticsAndTheAccountAreWhole) {
    for (uint64_t i = 1; i <= 30; i++) {
        StatsEvent stats;
        stats.time_ns = i * 100 * ms;
        stats.spec = SpecId{static_cast<uint32_t>(i % 2)};
        stats.entries = stats.returns = i;
        stats.sum_ns = i * 5;
        stats.buckets = {{static_cast<uint32_t>(i % 5), i}};
        both.on_stats(stats);
        LedgerEvent ledger;
        ledger.time_ns = i * 100 * ms;
        ledger.samples = i;
        both.on_ledger(ledger);
        both.on_time(i * 100 * ms);
    }
    fold.flush();
    EXPECT_LE(folded.stats.size(), 8u);
    const auto sums = [](const Collected& of) {
        std::map<std::pair<uint32_t, uint32_t>, uint64_t> sums; // by function and bucket
        for (const StatsEvent& stats : of.stats) {
            sums[{stats.spec.value, UINT32_MAX}] += stats.entries;
            sums[{stats.spec.value, UINT32_MAX - 1}] += stats.sum_ns;
            for (const StatsEvent::Bucket& bucket : stats.buckets)
                sums[{stats.spec.value, bucket.index}] += bucket.count;
        }
        return sums;
    };
    EXPECT_EQ(sums(folded), sums(whole));
    EXPECT_EQ(folded.ledgers.back().samples, 30u);
    EXPECT_LE(folded.ledgers.size(), 4u);
}

} // namespace
} // namespace auger::remote
