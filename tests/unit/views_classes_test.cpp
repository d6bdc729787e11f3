// SPDX-License-Identifier: GPL-3.0-or-later
// Branches, values and the lines of `only`: of which calls they are known, and how calls of
// combined classes are estimated.
#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/model/account.h"
#include "views/model/call_estimate.h"
#include "views/model/class_table.h"
#include "views/model/diff.h"
#include "views/model/fold.h"
#include "views/model/slow_call_query.h"

#include <gtest/gtest.h>

#include <random>

namespace auger {
namespace {

ClassFilter filter_of(std::optional<CallClass> duration, std::optional<bool> taken,
                      std::optional<std::string> label = {}) {
    ClassFilter filter;
    filter.duration = duration;
    filter.taken = taken;
    filter.label = std::move(label);
    return filter;
}

class Classes : public testing::Test {
  protected:
    // A sampled call of `spec`, ended.
    void call(SpecId spec, uint64_t start_ns, uint64_t duration_ns, uint32_t marks = 0,
              std::optional<LabelId> label = {}, bool unwound = false) {
        CallKey key = stream.call(spec, start_ns);
        stream.sample(start_ns + 1, 1, stack, {key});
        stream.end(1, key, duration_ns, unwound, marks, label);
    }
    void split(std::string branch, std::string label = {}, Threshold threshold = {},
               uint64_t since_ns = 0) {
        SplitInfo info{true, ProbeId{1}, threshold, false, Branch::parse(branch), std::move(label)};
        info.branch_bit = 3;
        info.branch_since_ns = info.label_since_ns = since_ns;
        model.on_split(info);
    }
    double samples(const ClassFilter& filter) const {
        double sum = 0;
        for (const ClassSums& sums : sum_stacks(model, Classifier(model), {}, filter))
            sum += sums.sum().samples;
        return sum;
    }

    Model model{1000, 3};
    SyntheticStream stream{model};
    SpecId handle = stream.probe(1, "handle");
    SpecId inner = stream.probe(2, "inner");
    StackId stack = stream.stack({"main", "handle"});
    const ClassFilter taken = filter_of({}, true), not_taken = filter_of({}, false);
};

// Of a process there are samples, in calls or not; nothing else that is asked for changes.
TEST_F(Classes, AProcessHasItsOwnSamples) {
    (void)stream.thread(7, "service", 4711);
    split("", "", stream.fixed(5 * ms));
    call(handle, 100 * ms, ms);
    const CallKey slow = stream.call(handle, 200 * ms);
    stream.sample(201 * ms, 7, stack, {slow});
    stream.end(7, slow, 9 * ms);
    stream.sample(300 * ms, 7, stack);
    ClassFilter one;
    one.process = 4711;
    EXPECT_EQ(samples(one), 2);
    EXPECT_FALSE(one.all());
    EXPECT_FALSE(one.of_calls());
    EXPECT_EQ(to_string(one), "pid=4711");
    one.duration = CallClass::slow;
    EXPECT_EQ(samples(one), 1);
    ClassFilter other;
    other.process = 100;
    EXPECT_EQ(samples(other), 1);
    EXPECT_TRUE(one.excludes(other));
    EXPECT_FALSE(one.excludes(one));
    other.process = 1;
    EXPECT_EQ(samples(other), 0);
    EXPECT_EQ(samples({}), 3);
}

TEST_F(Classes, ABranchIsKnownOfCallsThatBeganSinceItIsWatched) {
    split("at x.c:1", "", stream.fixed(5 * ms), 1000 * ms);
    call(handle, 900 * ms, ms, 1 << 3);      // began before: the bit was another mark's
    call(handle, 1000 * ms, ms, 1 << 3);     // taken
    call(handle, 1100 * ms, 9 * ms, 1 << 2); // not taken: another bit
    call(handle, 1200 * ms, ms, 1 << 3, {}, true);
    stream.sample(1300 * ms, 1, stack, {stream.call(handle, 1299 * ms)}); // runs still
    stream.sample(1400 * ms, 1, stack);                                   // in no call
    call(inner, 1500 * ms, ms, 1 << 3);                                   // of another probe
    EXPECT_EQ(samples(taken), 2);
    EXPECT_EQ(samples(not_taken), 1);
    EXPECT_EQ(samples(filter_of(CallClass::slow, false)), 1);
    EXPECT_EQ(samples(filter_of(CallClass::slow, true)), 0);
    EXPECT_EQ(samples({}), 7);

    ClassTable table = tabulate_classes(model, Classifier(model), {});
    std::vector<ClassRow> rows = branch_rows(model, table);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(to_string(rows[0].filter), "slow+not-taken");
    EXPECT_EQ(to_string(rows[1].filter), "fast+taken");
    EXPECT_EQ(rows[1].samples.samples, 2);
    EXPECT_EQ(rows[1].calls, 2u);
    EXPECT_EQ(unknown_branch(table).samples, 2);

    // Of a recording it may be known up to some time only.
    SplitInfo until = model.split();
    until.branch_until_ns = 1150 * ms;
    model.on_split(until);
    EXPECT_EQ(samples(taken), 1);
}

TEST_F(Classes, TheOutermostCallsBranchAndValueCount) {
    split("at x.c:1", "type", {}, 0);
    CallKey outer = stream.call(handle, 100 * ms), again = stream.call(handle, 101 * ms);
    stream.sample(102 * ms, 1, stack, {outer, again});
    stream.end(1, again, ms, false, 1 << 3, stream.label("in"));
    stream.end(1, outer, 5 * ms, false, 0, stream.label("out"));
    EXPECT_EQ(samples(taken), 0);
    EXPECT_EQ(samples(not_taken), 1);
    EXPECT_EQ(samples(filter_of({}, {}, "out")), 1);
    EXPECT_EQ(samples(filter_of({}, {}, "in")), 0);
    // Without a threshold there is no slow or fast.
    EXPECT_TRUE(lacking_part(model, CallClass::slow));
    EXPECT_FALSE(lacking_part(model, taken));
}

TEST_F(Classes, ValuesAreCalledAsShownOrByNameOrNumber) {
    split("", "type", {}, 100 * ms);
    call(handle, 50 * ms, ms, 0, stream.label("METERED (1)")); // of another split
    call(handle, 150 * ms, ms, 0, stream.label("METERED (1)"));
    call(handle, 160 * ms, ms, 0, stream.label("a\x1b"));
    call(handle, 170 * ms, ms);
    for (const char* name : {"METERED (1)", "METERED", "1"})
        EXPECT_EQ(samples(filter_of({}, {}, name)), 1) << name;
    for (const char* name : {"a\x1b", "a\\x1b"})
        EXPECT_EQ(samples(filter_of({}, {}, name)), 1) << name;
    EXPECT_EQ(samples(filter_of({}, {}, "METER")), 0);
    ClassTable table = tabulate_classes(model, Classifier(model), {});
    EXPECT_EQ(label_rows(model, table).size(), 2u);
    EXPECT_EQ(unknown_label(table).samples, 2);
}

TEST_F(Classes, BranchCountsAreThoseOfTheMarkInForce) {
    split("at x.c:1", "", {}, 1000 * ms);
    stream.stats(900 * ms, handle, {ms}, 0, 0, 0, {{3, 50, 60}}); // another mark's
    stream.stats(1100 * ms, handle, {ms}, 0, 0, 0, {{2, 7, 7}, {3, 1, 20}});
    stream.stats(1200 * ms, inner, {ms}, 0, 0, 0, {{3, 5, 5}});
    stream.stats(9000 * ms, handle, {ms}, 0, 0, 0, {{3, 2, 30}});
    EXPECT_EQ(model.branch_counts().taken, 3);
    EXPECT_EQ(model.branch_counts().not_taken, 50);
    EXPECT_EQ(model.branch_counts({Window::Kind::last, 1000 * ms}).taken, 2);
}

TEST_F(Classes, FilteredCallsAreInTheAccount) {
    stream.stats(900 * ms, handle, {ms, ms}, 0, 0, 0, {}, 5);
    EXPECT_EQ(model.all_calls().entries, 7);
    EXPECT_TRUE(make_account(model).calls_add_up);
    LedgerEvent ledger;
    ledger.ticks = 10;
    ledger.filtered = 3;
    ledger.gated = 7;
    model.on_ledger(ledger);
    EXPECT_TRUE(make_account(model).ticks_add_up);
}

// They end, and nothing is in them: what is inside counts as if they had not been there.
TEST_F(Classes, CallsFilteredAtTheirEndDecideNothing) {
    split("", "", SyntheticStream::fixed(5 * ms));
    const CallKey left_out = stream.call(handle, 100 * ms), kept = stream.call(handle, 101 * ms);
    stream.sample(101 * ms + 1, 1, stack, {left_out, kept});
    stream.sample(103 * ms, 1, stack, {left_out});
    const auto end = [&](const CallKey& call, uint64_t duration_ns, bool filtered) {
        CallEndEvent event;
        event.time_ns = call.start_ns + duration_ns;
        event.duration_ns = duration_ns;
        event.thread = stream.thread(1);
        event.call = call;
        event.samples = 1;
        event.filtered = filtered;
        model.on_call_end(event);
    };
    end(kept, ms, false);
    model.on_time(110 * ms);
    // Until then the outer one is a slow call that runs still.
    EXPECT_EQ(samples(CallClass::slow), 2);
    end(left_out, 12 * ms, true);
    model.on_time(200 * ms);
    EXPECT_EQ(samples(CallClass::slow), 0);
    EXPECT_EQ(samples(CallClass::fast), 1);
    EXPECT_EQ(samples(CallClass::outside), 1);
    EXPECT_EQ(samples(CallClass::open), 0);
}

// A span is around what its threads do, one after the other; a call that goes on while its thread
// goes from one span to another is in each in turn.
TEST_F(Classes, SamplesBelongToTheSpanThatTheirThreadWorksForThen) {
    split("", "", SyntheticStream::fixed(5 * ms));
    CallKey slow = stream.call(handle, 100 * ms), fast = stream.call(handle, 101 * ms);
    for (CallKey* span : {&slow, &fast})
        span->sequence |= CallKey::no_thread_bit;
    const CallKey loop = stream.call(inner, 99 * ms);
    const auto sample = [&](uint32_t tid, std::vector<CallKey> calls) {
        SampleEvent event;
        event.time_ns = 102 * ms;
        event.weight_ns = 1;
        event.thread = stream.thread(tid);
        event.stack = stack;
        event.calls = calls;
        model.on_sample(event);
    };
    sample(1, {slow, loop});
    sample(1, {fast, loop});
    sample(2, {slow});
    sample(1, {loop});
    sample(1, {slow, loop});
    const auto end = [&](const CallKey& call, uint64_t duration_ns, uint32_t tid) {
        CallEndEvent event;
        event.time_ns = call.start_ns + duration_ns;
        event.duration_ns = duration_ns;
        event.thread = stream.thread(tid);
        event.call = call;
        event.samples = 1;
        model.on_call_end(event);
    };
    end(fast, 2 * ms, 2);
    end(slow, 9 * ms, 1);
    model.on_time(200 * ms);
    EXPECT_EQ(samples(CallClass::slow), 3);
    EXPECT_EQ(samples(CallClass::fast), 1);
    EXPECT_EQ(samples(CallClass::outside), 1);
    // No thread need be at work for an open span, so its end is not missing.
    EXPECT_EQ(make_account(model).samples_in_lost_ends, 0u);
}

// A thread waits for the next request on behalf of the last one, which another thread answers: the
// sample of the wait comes when the exchange has ended, and is in nothing that was stored before.
TEST_F(Classes, WaitsThatEndBehindTheirExchangeAreInNoneThatIsOpen) {
    const SpecId spec = stream.probe(1, "http");
    ProbeInfo info = *model.find_probe(ProbeId{1});
    info.span = "exchanges port 80";
    model.on_probe(info);
    stream.split(1, stream.fixed(10 * ms));
    const auto exchange = [&](uint64_t start_ns) {
        CallKey key = stream.call(spec, start_ns);
        key.sequence |= CallKey::no_thread_bit;
        return key;
    };
    const auto wait = [&](uint64_t until_ns, const CallKey& key) {
        stream.sample(until_ns, 1, stack, {key}, ms, SampleKind::blocked);
    };
    const auto samples_of = [&](CallClass one) { return make_account(model).classes[one].samples; };
    const CallKey quick = exchange(1'000 * ms), slow = exchange(1'000 * ms + 1);
    stream.end(2, quick, 2 * ms);
    stream.end(2, slow, 20 * ms);
    wait(9'000 * ms, quick);
    EXPECT_EQ(samples_of(CallClass::outside), 1);
    wait(1'001 * ms, quick);
    wait(1'015 * ms, slow);
    EXPECT_EQ(samples_of(CallClass::fast), 1);
    EXPECT_EQ(samples_of(CallClass::slow), 1);

    // Of some ends nothing is known any more; of what began since those it is.
    for (uint64_t i = 0; i < 200'000; i++)
        stream.end(2, exchange(10'000 * ms + i), ms);
    wait(11'000 * ms, quick);
    EXPECT_EQ(samples_of(CallClass::open), 0) << "its record is there";
    wait(12'000 * ms, exchange(5'000 * ms));
    EXPECT_EQ(samples_of(CallClass::open), 1) << "it may have ended: not slow";
    wait(13'000 * ms, exchange(10'500 * ms));
    EXPECT_EQ(samples_of(CallClass::slow), 2) << "it has not ended";
}

TEST_F(Classes, LinesOfOnlyLeaveOutWhatIsNotKnown) {
    OnlyInfo only;
    only.text = "not at x.c:1";
    only.lines = {"x.c:1"};
    only.line_clauses = {{{}, {0}}};
    only.marks = {{4, "at x.c:1", 1000 * ms}};
    call(handle, 900 * ms, ms);          // began before
    call(handle, 1000 * ms, ms);         // kept
    call(handle, 1100 * ms, ms, 1 << 4); // the line was executed
    stream.sample(1200 * ms, 1, stack);  // in no call
    CallKey around = stream.call(inner, 1300 * ms), within = stream.call(handle, 1301 * ms);
    stream.sample(1302 * ms, 1, stack, {around, within});
    stream.end(1, within, ms, false, 1 << 4);
    stream.end(1, around, 5 * ms);
    model.on_only(only);
    // Without a split, any timed call around will do; with one, its outermost.
    EXPECT_EQ(samples({}), 2);
    split("", "", stream.fixed(5 * ms));
    EXPECT_EQ(samples({}), 1);
    EXPECT_EQ(tabulate_classes(model, Classifier(model), {}).left_out.samples, 4);
    Account account = make_account(model);
    EXPECT_EQ(account.left_out, 4u);
    EXPECT_TRUE(account.samples_add_up);
    only.line_clauses = {{{0}, {}}};
    model.on_only(only);
    EXPECT_EQ(samples({}), 2);
    // A line that nobody watches is known of no call.
    only.marks.clear();
    model.on_only(only);
    EXPECT_EQ(samples({}), 0);
}

TEST_F(Classes, SlowCallsAreClassedByTheCallsAroundThem) {
    split("at x.c:1", "", stream.fixed(5 * ms), 0);
    auto slow_inner = [&](uint64_t start_ns, uint64_t around_ns, uint32_t marks) {
        CallKey around = stream.call(handle, start_ns);
        SlowCallEvent event;
        event.end = {start_ns + 2 * ms, ms, stream.thread(1), stream.call(inner, start_ns + ms)};
        event.stack = stack;
        event.enclosing = {&around, 1};
        model.on_slow_call(event);
        if (around_ns)
            stream.end(1, around, around_ns, false, marks);
    };
    slow_inner(100 * ms, 9 * ms, 1 << 3);
    slow_inner(200 * ms, 3 * ms, 0);
    slow_inner(300 * ms, 0, 0); // around runs still
    auto found = [&](const ClassFilter& filter) {
        return find_slow_calls(model, Classifier(model), {}, {}, filter).size();
    };
    EXPECT_EQ(found({}), 3u);
    EXPECT_EQ(found(filter_of(CallClass::slow, true)), 1u);
    EXPECT_EQ(found(filter_of(CallClass::fast, false)), 1u);
    EXPECT_EQ(found(taken), 1u);
    EXPECT_EQ(model.calls().live(), 6u);
    // The room is for three: the oldest goes, and its calls with it.
    slow_inner(400 * ms, 9 * ms, 1 << 3);
    EXPECT_EQ(model.calls().live(), 6u);
    EXPECT_EQ(found(taken), 1u);
}

// A slow call's own end may have come before, with its marks.
TEST_F(Classes, ASlowCallKeepsTheMarksOfItsEnd) {
    split("at x.c:1", "", stream.fixed(5 * ms), 0);
    CallKey key = stream.call(handle, 100 * ms);
    stream.sample(101 * ms, 1, stack, {key});
    stream.end(1, key, 9 * ms, false, 1 << 3);
    SlowCallEvent event;
    event.end = {109 * ms, 9 * ms, stream.thread(1), key};
    model.on_slow_call(event);
    EXPECT_EQ(samples(taken), 1);
}

TEST(CallEstimate, SampledCallsStandForThoseThatTookAsLong) {
    WeightedHistogram durations;
    CallEstimate estimate;
    // Of 1000 short calls 20 are sampled, of 100 long ones 50: a plain share of the sampled ones
    // would be wrong by far.
    durations.add(ms, 1000);
    durations.add(10 * ms, 100);
    for (int i = 0; i < 20; i++)
        estimate.add(ms, i < 5 ? 0 : 1);
    for (int i = 0; i < 50; i++)
        estimate.add(10 * ms, i < 40 ? 0 : -1);
    auto calls = estimate.calls(durations, 5 * ms);
    EXPECT_NEAR(calls[0], 250 + 80, 1e-6);
    EXPECT_NEAR(calls[1], 750, 1e-6);
    // Short calls of which none was sampled belong to the shortest that were; slow ones never.
    WeightedHistogram more = durations;
    more.add(ms / 10, 500);
    EXPECT_NEAR(estimate.calls(more, 5 * ms)[1], 1500 * 0.75, 1e-6);
    EXPECT_EQ(CallEstimate().calls(durations, 0)[0], 0);
}

// However few slow calls are sampled, they are slow, and there are as many as were counted.
TEST(CallEstimate, TheThresholdIsABoundary) {
    WeightedHistogram durations;
    CallEstimate estimate;
    durations.add(ms, 1000);
    durations.add(10 * ms, 40);
    for (int i = 0; i < 20; i++)
        estimate.add(ms, 1);
    for (int i = 0; i < 4; i++)
        estimate.add(10 * ms, 0);
    auto calls = estimate.calls(durations, 5 * ms);
    EXPECT_NEAR(calls[0], 40, 1e-6);
    EXPECT_NEAR(calls[1], 1000, 1e-6);
}

// Combined classes compared per call, where few calls are sampled and the truth is known.
TEST_F(Classes, CombinedClassesAreComparedPerCall) {
    Model model{200'000};
    SyntheticStream stream{model};
    SpecId handle = stream.probe(1, "handle");
    SplitInfo info{true, ProbeId{1}, stream.fixed(5 * ms), false, Branch::at_line("x.c:1"), ""};
    info.branch_bit = 3;
    model.on_split(info);
    StackId work = stream.stack({"main", "handle", "work"});
    std::mt19937 random(3);
    std::vector<uint64_t> durations;
    uint64_t true_calls = 0;
    for (uint64_t i = 1; i <= 20'000; i++) {
        uint64_t start = i * 20 * ms;
        bool slow = i % 10 == 0, takes = random() % 4 == 0;
        // Those that take the branch are twice as long, so they are sampled twice as often.
        uint64_t duration = (slow ? 8 : 1) * ms * (takes && !slow ? 2 : 1);
        true_calls += !slow && takes;
        durations.push_back(duration);
        CallKey key = stream.call(handle, start);
        bool sampled = false;
        for (uint64_t at = random() % (10 * ms); at < duration; at += 10 * ms, sampled = true)
            stream.sample(start + at, 1, work, {key}, 10 * ms);
        if (sampled)
            stream.end(1, key, duration, false, takes ? 1 << 3 : 0);
    }
    stream.stats(1, handle, durations, 0, 0, 0, {{3, 5000, 15'000}});
    model.on_time(20'001 * 20 * ms);
    auto diff = diff_classes(model, {}, filter_of(CallClass::fast, true),
                             filter_of(CallClass::fast, false));
    ASSERT_TRUE(diff) << diff.error().message();
    EXPECT_TRUE(diff->first.estimated);
    EXPECT_NEAR(diff->first.calls, double(true_calls), 0.05 * double(true_calls));
    EXPECT_NEAR(diff->first.per_call_ns, 2.0 * ms, 0.2 * ms);
    EXPECT_NEAR(diff->second.per_call_ns, 1.0 * ms, 0.1 * ms);

    auto by_branch = diff_classes(model, {}, filter_of({}, true), filter_of({}, false));
    ASSERT_TRUE(by_branch);
    EXPECT_FALSE(by_branch->first.estimated);
    EXPECT_EQ(by_branch->first.calls, 5000);
    EXPECT_EQ(by_branch->second.calls, 15'000);
    EXPECT_FALSE(diff_classes(model, {}, CallClass::slow, filter_of({}, true)));
    EXPECT_FALSE(diff_classes(model, {}, filter_of({}, {}, "1"), filter_of({}, {}, "2")));
}

} // namespace
} // namespace auger
