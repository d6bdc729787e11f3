// SPDX-License-Identifier: GPL-3.0-or-later
// Classing in every case, eviction, windows, and sums that must agree.
#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/model/account.h"
#include "views/model/fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace auger {
namespace {

class ModelTest : public testing::Test {
  protected:
    ClassSums classes(const Model& model, const Window& window = {}) {
        ClassSums sums;
        for (const ClassSums& stack : sum_stacks(model, Classifier(model), window))
            sums += stack;
        return sums;
    }
    static SampleSum of(const ClassSums& sums, const ClassFilter& filter) {
        return filter.duration ? sums[*filter.duration] : sums.sum();
    }
    std::array<int, 4> counts(const Model& model, const Window& window = {}) {
        ClassSums sums = classes(model, window);
        std::array<int, 4> counts;
        for (size_t i = 0; i < 4; i++)
            counts[i] = static_cast<int>(sums.by_class[i].samples);
        return counts;
    }
    using Counts = std::array<int, 4>; // slow, fast, open, outside

    Model model;
    SyntheticStream stream{model};
    SpecId handle = stream.probe(1, "handle");
    SpecId inner = stream.probe(2, "inner");
    StackId stack = stream.stack({"main", "handle"});
};

TEST_F(ModelTest, EndedCallsAreClassedByTheirDuration) {
    stream.split(1, stream.fixed(10 * ms));
    CallKey slow = stream.call(handle, 100 * ms), fast = stream.call(handle, 200 * ms);
    CallKey exact = stream.call(handle, 300 * ms), unwound = stream.call(handle, 400 * ms);
    stream.sample(101 * ms, 1, stack, {slow});
    stream.end(1, slow, 11 * ms);
    stream.sample(201 * ms, 1, stack, {fast});
    stream.end(1, fast, 9 * ms);
    stream.sample(301 * ms, 1, stack, {exact});
    stream.end(1, exact, 10 * ms);
    stream.sample(401 * ms, 1, stack, {unwound});
    stream.end(1, unwound, 50 * ms, true);
    stream.sample(501 * ms, 1, stack);
    EXPECT_EQ(counts(model), (Counts{2, 2, 0, 1}));
}

TEST_F(ModelTest, WaitsAreSummedByKindInTheUnitOfRunningTime) {
    stream.split(1, stream.fixed(10 * ms));
    CallKey slow = stream.call(handle, 100 * ms);
    StackId waiting = stream.stack({"main", "handle", "[recvfrom]"});
    stream.sample(101 * ms, 1, stack, {slow}, 2 * ms);
    stream.sample(108 * ms, 1, waiting, {slow}, 7 * ms, SampleKind::blocked);
    stream.sample(109 * ms, 1, waiting, {slow}, 1 * ms, SampleKind::runnable);
    stream.end(1, slow, 11 * ms);
    stream.sample(200 * ms, 1, waiting, {}, 50 * ms, SampleKind::blocked);
    stream.ledger(300 * ms);

    ClassSums sums = classes(model);
    EXPECT_EQ(sums[CallClass::slow].weight_ns, 10.0 * ms);
    EXPECT_EQ(sums[CallClass::slow].cpu_ns(), 2.0 * ms);
    EXPECT_EQ(sums[CallClass::slow].blocked_ns, 7.0 * ms);
    EXPECT_EQ(sums[CallClass::slow].runnable_ns, 1.0 * ms);
    EXPECT_EQ(sums[CallClass::outside].blocked_ns, 50.0 * ms);
    EXPECT_EQ(sums[CallClass::outside].cpu_ns(), 0);

    Account account = make_account(model);
    EXPECT_TRUE(account.ticks_add_up);
    EXPECT_TRUE(account.samples_add_up);
    EXPECT_EQ(account.sent + account.wait_samples, account.received);
}

TEST_F(ModelTest, LostSamplesAreInTheAccount) {
    stream.sample(101 * ms, 1, stack);
    stream.ledger(200 * ms, 0, 5);
    Account account = make_account(model);
    EXPECT_EQ(account.lost_samples, 5u);
    EXPECT_TRUE(account.ticks_add_up);
}

TEST_F(ModelTest, AThresholdNearTheSamplesOwnCostIsKnown) {
    stream.ledger(1 * ms); // 12.5 us
    EXPECT_FALSE(model.split_near_sample_gap());
    stream.split(1, stream.fixed(24'999));
    EXPECT_TRUE(model.split_near_sample_gap());
    stream.split(1, stream.fixed(25'000));
    EXPECT_FALSE(model.split_near_sample_gap());
}

TEST_F(ModelTest, OpenCallsTurnSlowByOutlivingTheThreshold) {
    stream.split(1, stream.fixed(10 * ms));
    stream.sample(101 * ms, 1, stack, {stream.call(handle, 100 * ms)});
    EXPECT_EQ(counts(model), (Counts{0, 0, 1, 0}));
    model.on_time(110 * ms);
    EXPECT_EQ(counts(model), (Counts{0, 0, 1, 0}));
    model.on_time(110 * ms + 1);
    EXPECT_EQ(counts(model), (Counts{1, 0, 0, 0}));
}

TEST_F(ModelTest, TheOutermostCallOfTheProbeDecides) {
    stream.split(1, stream.fixed(10 * ms));
    // Recursion: the inner call is fast, the outer one slow.
    CallKey outer = stream.call(handle, 100 * ms), again = stream.call(handle, 101 * ms);
    stream.sample(102 * ms, 1, stack, {outer, again});
    stream.end(1, again, 2 * ms);
    stream.end(1, outer, 20 * ms);
    EXPECT_EQ(counts(model), (Counts{1, 0, 0, 0}));
    EXPECT_TRUE(Classifier(model).recursive());
    // Calls of another probe around and inside do not.
    CallKey around = stream.call(inner, 200 * ms), fast = stream.call(handle, 201 * ms);
    CallKey inside = stream.call(inner, 202 * ms);
    stream.sample(203 * ms, 1, stack, {around, fast, inside});
    stream.end(1, inside, 1 * ms);
    stream.end(1, fast, 3 * ms);
    stream.end(1, around, 90 * ms);
    stream.sample(301 * ms, 1, stack, {stream.call(inner, 300 * ms)}); // of no call of `handle`
    EXPECT_EQ(counts(model), (Counts{1, 1, 0, 1}));
}

TEST_F(ModelTest, EveryFunctionOfAProbeCounts) {
    SpecId second = stream.add_spec(1, "handle_other");
    stream.split(1, stream.fixed(10 * ms));
    CallKey call = stream.call(second, 100 * ms);
    stream.sample(101 * ms, 1, stack, {call});
    stream.end(1, call, 20 * ms);
    EXPECT_EQ(counts(model), (Counts{1, 0, 0, 0}));
}

TEST_F(ModelTest, EditedThresholdsResplitWhatWasCollected) {
    for (uint64_t i = 1; i <= 20; i++) {
        CallKey call = stream.call(handle, 100 * i * ms);
        stream.sample(100 * i * ms + 1, 1, stack, {call});
        stream.end(1, call, i * ms);
    }
    EXPECT_EQ(counts(model), (Counts{0, 0, 0, 20})); // no split yet
    stream.split(1, stream.fixed(10 * ms));
    EXPECT_EQ(counts(model), (Counts{10, 10, 0, 0}));
    stream.split(1, stream.fixed(15 * ms));
    EXPECT_EQ(counts(model), (Counts{5, 15, 0, 0}));
    stream.split(2, stream.fixed(15 * ms));
    EXPECT_EQ(counts(model), (Counts{0, 0, 0, 20}));
}

TEST_F(ModelTest, WarmingThresholdsClassNothing) {
    stream.split(1, stream.percentile(95));
    CallKey call = stream.call(handle, 100 * ms);
    stream.sample(101 * ms, 1, stack, {call});
    stream.end(1, call, 50 * ms);
    EXPECT_EQ(counts(model), (Counts{0, 0, 1, 0}));
    stream.stats(200 * ms, handle, std::vector<uint64_t>(99, ms));
    EXPECT_EQ(counts(model), (Counts{0, 0, 1, 0}));
    stream.stats(300 * ms, handle, {ms});
    EXPECT_EQ(counts(model), (Counts{1, 0, 0, 0}));
}

TEST_F(ModelTest, ALateSplitFindsItsPercentileWarm) {
    stream.stats(200 * ms, handle, std::vector<uint64_t>(100, ms));
    stream.split(1, stream.percentile(95));
    EXPECT_EQ(model.split_state().kind, ThresholdState::Kind::following);
}

TEST_F(ModelTest, SoFarClassesByTheTimeElapsedAtTheSample) {
    stream.split(1, stream.fixed(10 * ms), true);
    CallKey call = stream.call(handle, 100 * ms);
    stream.sample(105 * ms, 1, stack, {call});
    stream.sample(110 * ms, 1, stack, {call});
    stream.sample(111 * ms, 1, stack, {call});
    EXPECT_EQ(counts(model), (Counts{1, 2, 0, 0}));
    stream.end(1, call, 2 * ms); // its real duration makes no difference
    EXPECT_EQ(counts(model), (Counts{1, 2, 0, 0}));
}

TEST_F(ModelTest, CallsOfOtherThreadsWithTheSameNumberAreOthers) {
    stream.split(1, stream.fixed(10 * ms));
    CallKey call = stream.call(handle, 100 * ms);
    stream.sample(101 * ms, 1, stack, {call});
    stream.sample(101 * ms, 2, stack, {call});
    stream.end(1, call, 20 * ms);
    model.on_time(105 * ms);
    EXPECT_EQ(model.calls().live(), 2u);
    stream.end(2, call, 1 * ms);
    EXPECT_EQ(counts(model), (Counts{1, 1, 0, 0}));
}

TEST(ModelEviction, KeepsTheNewestAndForgetsTheirCallsWithThem) {
    Model model(100);
    SyntheticStream stream(model);
    SpecId handle = stream.probe(1, "handle");
    StackId stack = stream.stack({"main"});
    stream.split(1, stream.fixed(10 * ms));
    CallKey outer = stream.call(handle, 1 * ms);
    std::mt19937 random(3);
    for (uint64_t i = 1; i <= 1000; i++) {
        CallKey call = stream.call(handle, i * 100 * ms);
        for (int n = 0; n < 3; n++)
            stream.sample(i * 100 * ms + 1, 1, stack, {outer, call});
        stream.end(1, call, random() % 20 * ms);
        ASSERT_LE(model.calls().live(), 36u);
    }
    EXPECT_EQ(model.samples().size(), 100u);
    EXPECT_EQ(model.samples_evicted(), 2900u);
    EXPECT_EQ(model.samples().oldest().time_ns, 967 * 100 * ms + 1);
    EXPECT_EQ(model.calls().live(), 35u); // 34 calls with samples and the one around them
    stream.end(1, outer, 1 * ms);
    EXPECT_EQ(make_account(model).classes[CallClass::fast].samples, 100);
    EXPECT_TRUE(make_account(model).samples_add_up);
}

TEST(ModelCallTable, AgreesWithAPlainMapUnderChurn) {
    CallTable table;
    std::mt19937 random(5);
    std::vector<std::pair<CallKey, CallIndex>> held;
    uint64_t next = 0;
    for (int i = 0; i < 20'000; i++) {
        if (held.size() < 300 || random() % 2) {
            CallKey key{++next * 64, 1, SpecId{0}};
            CallIndex index = table.acquire(7, {&key, 1});
            held.push_back({key, index});
        } else {
            size_t victim = random() % held.size();
            table.release(held[victim].second);
            std::swap(held[victim], held.back());
            held.pop_back();
        }
    }
    EXPECT_EQ(table.live(), held.size());
    for (auto& [key, index] : held) {
        CallIndex again = table.acquire(7, {&key, 1});
        ASSERT_EQ(again, index);
    }
}

// A loop's call that outlives many spans: a record in each, of which any may go first.
TEST(ModelCallTable, HoldsOneCallInManySpans) {
    CallTable table;
    std::mt19937 random(7);
    const CallKey loop{5, 1, SpecId{1}};
    std::vector<CallIndex> held;
    const auto span = [](uint64_t i) {
        return CallKey{1000 + i, static_cast<uint32_t>(i) | CallKey::no_thread_bit, SpecId{0}};
    };
    constexpr uint64_t spans = 5000;
    for (uint64_t i = 0; i < spans; i++) {
        const std::array<CallKey, 2> around = {span(i), loop};
        held.push_back(table.acquire(3, around));
        EXPECT_EQ(table.acquire(3, around), held.back());
        table.release(held.back());
    }
    const CallIndex alone = table.acquire(3, {&loop, 1});
    EXPECT_EQ(table.live(), 2 * spans + 1);
    std::ranges::shuffle(held, random);
    for (; held.size() > spans / 2; held.pop_back())
        table.release(held.back());
    CallEndEvent end;
    end.call = loop;
    end.duration_ns = 77;
    EXPECT_FALSE(table.end(4, end)) << "another thread's";
    EXPECT_TRUE(table.end(3, end));
    held.push_back(alone);
    for (const CallIndex one : held)
        EXPECT_EQ(table[one].duration_ns, 77u);
    std::ranges::shuffle(held, random);
    for (const CallIndex one : held)
        table.release(one);
    EXPECT_EQ(table.live(), 0u);
    EXPECT_FALSE(table.end(3, end));
}

TEST_F(ModelTest, WindowsCoverWhatTheySay) {
    stream.split(1, stream.fixed(10 * ms));
    for (uint64_t i = 0; i < 10; i++)
        stream.sample((i + 1) * 1000 * ms, 1, stack);
    EXPECT_EQ(counts(model, {Window::Kind::last, 3500 * ms}), (Counts{0, 0, 0, 4}));
    double expected = 0;
    for (int i = 0; i < 10; i++)
        expected += std::exp(-i / 2.0);
    EXPECT_NEAR(classes(model, {Window::Kind::ewma, 2000 * ms}).sum().samples, expected, 1e-9);

    stream.stats(1000 * ms, handle, {ms, ms});
    stream.stats(9000 * ms, handle, {3 * ms}, 0, 1);
    CallStatistics last = model.probe_statistics(ProbeId{1}, {Window::Kind::last, 2000 * ms});
    EXPECT_EQ(last.returns, 1);
    EXPECT_NEAR(last.quantile(0.5), 3e6, 3e4);
    EXPECT_EQ(model.probe_statistics(ProbeId{1}).returns, 3);
    EXPECT_EQ(model.probe_statistics(ProbeId{1}).open, 1);
}

TEST_F(ModelTest, FoldsAddUpForEveryClass) {
    stream.split(1, stream.fixed(10 * ms));
    std::mt19937 random(7);
    const std::vector<std::string> names = {"a", "b", "c", "d", "k:read", "k:write"};
    for (uint64_t i = 1; i < 3000; i++) {
        std::vector<std::string> path = {"main"};
        for (uint64_t depth = random() % 6; depth; depth--)
            path.push_back(names[random() % names.size()]);
        CallKey call = stream.call(handle, i * 100 * ms);
        bool in_call = random() % 4;
        stream.sample(i * 100 * ms + 1, 1 + random() % 3, stream.stack(path),
                      in_call ? std::vector{call} : std::vector<CallKey>{}, 1 + random() % 1000);
        if (random() % 5)
            stream.end(1 + random() % 3, call, random() % (20 * ms));
    }
    ClassSums whole = classes(model);
    for (ClassFilter filter :
         {ClassFilter{}, ClassFilter{CallClass::slow}, ClassFilter{CallClass::fast},
          ClassFilter{CallClass::open}, ClassFilter{CallClass::outside}}) {
        FlameTree tree = fold(model, {}, filter);
        EXPECT_EQ(tree.total().weight_ns, of(whole, filter).weight_ns);
        for (uint32_t i = 0; i < tree.nodes.size(); i++) {
            ClassSums below = tree.self_classes(i);
            for (uint32_t c = tree.nodes[i].first_child; c; c = tree.nodes[c].next_sibling) {
                ASSERT_EQ(tree.nodes[c].parent, i);
                below += tree.classes(c);
            }
            for (CallClass c : all_call_classes)
                ASSERT_EQ(below[c].weight_ns, tree.classes(i)[c].weight_ns);
        }
        double self = 0;
        for (const FunctionSums& f : sum_functions(model, {}, filter)) {
            self += f.self.sum().weight_ns;
            ASSERT_LE(f.total.sum().weight_ns, of(whole, filter).weight_ns);
        }
        EXPECT_EQ(self, of(whole, filter).weight_ns);
    }
}

TEST_F(ModelTest, BetterNamesChangeTheFoldAndInlinesAreFrames) {
    model.on_location(LocationId{50}, {ModuleId{0}, 0xabc, false});
    LocationId locations[] = {LocationId{50}};
    model.on_stack(StackId{60}, locations);
    stream.sample(ms, 1, StackId{60});
    auto leaf = [&] {
        FlameTree tree = fold(model, {});
        return std::string(node_name(model, tree, tree.nodes.back()));
    };
    EXPECT_EQ(leaf(), "service+0xabc");
    Frame frames[] = {{"inlined_leaf", "a.cc", 3, true}, {"owner", "a.cc", 9, false}};
    model.on_frames(LocationId{50}, frames);
    EXPECT_EQ(leaf(), "inlined_leaf");
    EXPECT_EQ(fold(model, {}).nodes.size(), 4u); // root, thread, owner, inlined_leaf
}

TEST_F(ModelTest, TheAccountFindsLostEndsAndWrongSums) {
    stream.split(1, stream.fixed(10 * ms));
    CallKey lost = stream.call(handle, 100 * ms), running = stream.call(handle, 200 * ms);
    stream.sample(101 * ms, 1, stack, {lost});
    stream.sample(150 * ms, 1, stack);
    stream.sample(201 * ms, 2, stack, {running});
    stream.stats(300 * ms, handle, {ms, ms}, 1, 2, 3);
    stream.ledger(300 * ms, 5, 2);
    Account account = make_account(model);
    EXPECT_EQ(account.samples_in_lost_ends, 1u);
    EXPECT_TRUE(account.ticks_add_up);
    EXPECT_TRUE(account.samples_add_up);
    EXPECT_TRUE(account.calls_add_up);
    StatsEvent wrong;
    wrong.spec = handle;
    wrong.entries = 1; // entered, and never accounted for
    model.on_stats(wrong);
    EXPECT_FALSE(make_account(model).calls_add_up);
}

TEST(ModelHostile, SurvivesUndefinedIds) {
    Model model;
    model.on_thread(ThreadId{UINT32_MAX}, {1, 1, "x"});
    model.on_location(LocationId{UINT32_MAX}, {});
    model.on_spec(SpecId{UINT32_MAX}, {});
    SampleEvent sample;
    sample.time_ns = 5;
    sample.weight_ns = 1;
    sample.thread = ThreadId{77};
    sample.stack = StackId{4'000'000'000};
    CallKey call{1, 1, SpecId{99}};
    sample.calls = {&call, 1};
    model.on_sample(sample);
    StatsEvent stats;
    stats.spec = SpecId{12345};
    model.on_stats(stats);
    LocationId locations[] = {LocationId{4'000'000'000}};
    model.on_stack(StackId{0}, locations);
    sample.stack = StackId{0};
    model.on_sample(sample);
    EXPECT_EQ(fold(model, {}).total().samples, 2);
    EXPECT_TRUE(make_account(model).samples_add_up);
}

} // namespace
} // namespace auger
