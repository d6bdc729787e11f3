// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison per call on streams whose truth is known.
#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/model/diff.h"
#include "views/model/student.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

namespace auger {
namespace {

TEST(Student, AgreesWithTables) {
    EXPECT_NEAR(student_two_sided_t(0.05, 1), 12.706, 0.001);
    EXPECT_NEAR(student_two_sided_t(0.05, 10), 2.2281, 0.0001);
    EXPECT_NEAR(student_two_sided_t(0.01, 30), 2.7500, 0.0001);
    EXPECT_NEAR(student_two_sided_p(1.959964, 1e9), 0.05, 1e-5);
}

const FunctionDiff* find(const Model& model, const Diff& diff, std::string_view name) {
    for (const FunctionDiff& f : diff.functions)
        if (model.symbols().name(f.function) == name)
            return &f;
    return nullptr;
}

// Calls of `handle`: 1 ms in `parse`; slow ones 9 ms more in `serve > lookup > scan`.
TEST(Diff, FindsTheCauseAndItsSize) {
    Model model;
    SyntheticStream stream(model);
    SpecId handle = stream.probe(1, "handle");
    stream.split(1, stream.fixed(5 * ms));
    StackId parse = stream.stack({"main", "handle", "parse"});
    StackId scan = stream.stack({"main", "handle", "serve", "lookup", "scan"});
    std::mt19937 random(1);
    for (uint64_t i = 1; i <= 4000; i++) {
        uint64_t start = i * 20 * ms;
        bool slow = i % 20 == 0;
        CallKey call = stream.call(handle, start);
        uint64_t phase = random() % ms;
        for (uint64_t at = phase; at < (slow ? 10 : 1) * ms; at += ms)
            stream.sample(start + at, 1, at < ms ? parse : scan, {call}, ms);
        stream.end(1, call, (slow ? 10 : 1) * ms);
        stream.stats(start + 15 * ms, handle, {(slow ? 10 : 1) * ms});
    }
    Result<Diff> diff = diff_classes(model, {}, CallClass::slow, CallClass::fast);
    ASSERT_TRUE(diff);
    EXPECT_NEAR(diff->first.calls, 200, 1e-6);
    EXPECT_NEAR(diff->second.calls, 3800, 1e-6);
    ASSERT_FALSE(diff->functions.empty());
    EXPECT_EQ(model.symbols().name(diff->functions[0].function), "scan");
    EXPECT_TRUE(diff->functions[0].significant);
    EXPECT_NEAR(diff->functions[0].difference_ns, 9e6, 9e4);
    const FunctionDiff* lookup = find(model, *diff, "lookup");
    ASSERT_NE(lookup, nullptr);
    EXPECT_NEAR(lookup->rest_difference_ns, 0, 1);
    EXPECT_EQ(find(model, *diff, "main"), nullptr); // a caller explains nothing
    const FunctionDiff* even = find(model, *diff, "parse");
    ASSERT_NE(even, nullptr);
    EXPECT_FALSE(even->significant);
    EXPECT_EQ(model.symbols().name(diff->stacks[0].path.back()), "scan");
}

// Of an interpreter's functions alone: what runs below them is theirs.
TEST(Diff, OfALanguageHasTheTimeOfWhatItsFunctionsCall) {
    Model model;
    SyntheticStream stream(model);
    SpecId handle = stream.probe(1, "handle");
    stream.split(1, stream.fixed(5 * ms));
    StackId parse = stream.stack({"main", "handle", "p:parse", "eval"});
    StackId scan =
        stream.stack({"main", "handle", "p:serve", "eval", "p:lookup", "scan", "memchr"});
    for (uint64_t i = 1; i <= 400; i++) {
        const bool slow = i % 20 == 0;
        const CallKey call = stream.call(handle, i * 20 * ms);
        for (uint64_t at = 0; at < (slow ? 10 : 1) * ms; at += ms)
            stream.sample(i * 20 * ms + at, 1, at < ms ? parse : scan, {call}, ms);
        stream.end(1, call, (slow ? 10 : 1) * ms);
        stream.stats(i * 20 * ms + 15 * ms, handle, {(slow ? 10 : 1) * ms});
    }
    const auto diff =
        diff_classes(model, {}, CallClass::slow, CallClass::fast, FrameChoice::language);
    ASSERT_TRUE(diff);
    EXPECT_EQ(model.symbols().name(diff->functions.at(0).function), "lookup");
    EXPECT_NEAR(diff->functions[0].rest_difference_ns, 9e6, 1);
    EXPECT_NEAR(diff->functions[0].self_difference_ns, 9e6, 1);
    for (const char* native : {"scan", "memchr", "eval"})
        EXPECT_EQ(find(model, *diff, native), nullptr) << native;
    ASSERT_NE(find(model, *diff, "handle"), nullptr) << "the split's own";
    for (const StackDiff& stack : diff->stacks)
        EXPECT_LE(stack.path.size(), 3u);
    const auto native =
        diff_classes(model, {}, CallClass::slow, CallClass::fast, FrameChoice::native);
    ASSERT_TRUE(native);
    EXPECT_EQ(model.symbols().name(native->functions.at(0).function), "memchr");
    EXPECT_EQ(find(model, *native, "lookup"), nullptr);
}

// Rarely sampled calls: most hold no sample, and the comparison must still be per call.
TEST(Diff, CountsCallsWithoutSamples) {
    Model model;
    SyntheticStream stream(model);
    SpecId handle = stream.probe(1, "handle");
    stream.split(1, stream.fixed(5 * ms));
    StackId work = stream.stack({"handle", "work"});
    std::vector<uint64_t> durations(9900, 1 * ms);
    durations.insert(durations.end(), 100, 10 * ms);
    stream.stats(ms, handle, durations);
    for (uint64_t i = 1; i <= 109; i++) { // one sample in 99 ms of work, as the durations have it
        CallKey call = stream.call(handle, i * 100 * ms);
        stream.sample(i * 100 * ms + 1, 1, work, {call}, 100 * ms);
        stream.end(1, call, i <= 10 ? 10 * ms : 1 * ms);
    }
    Result<Diff> diff = diff_classes(model, {}, CallClass::slow, CallClass::fast);
    ASSERT_TRUE(diff);
    const FunctionDiff* f = find(model, *diff, "work");
    ASSERT_NE(f, nullptr);
    EXPECT_NEAR(f->first_ns, 10e6, 1);
    EXPECT_NEAR(f->second_ns, 1e6, 1);
}

// Identical classes: how often is a difference claimed, and does the interval hold the truth?
TEST(Diff, ClaimsNothingWhereNothingDiffers) {
    constexpr int rounds = 300, functions = 10;
    int rounds_with_claims = 0, covered = 0, intervals = 0;
    for (int round = 0; round < rounds; round++) {
        Model model;
        SyntheticStream stream(model);
        SpecId handle = stream.probe(1, "handle");
        stream.split(1, stream.fixed(5 * ms));
        std::mt19937 random(static_cast<unsigned>(round));
        std::vector<uint64_t> durations;
        for (uint64_t i = 1; i <= 600; i++) {
            bool slow = random() % 10 == 0; // decided apart from what the call does
            CallKey call = stream.call(handle, i * 100 * ms);
            // Samples of a call come in runs of one function: they are not independent.
            for (int f = 0; f < functions; f++)
                if (random() % 4 == 0)
                    for (unsigned n = random() % 8; n; n--)
                        stream.sample(i * 100 * ms + 1, 1,
                                      stream.stack({"handle", "f" + std::to_string(f)}), {call},
                                      ms);
            durations.push_back((slow ? 10 : 1) * ms);
            stream.end(1, call, durations.back());
        }
        stream.stats(ms, handle, durations);
        Result<Diff> diff = diff_classes(model, {}, CallClass::slow, CallClass::fast);
        ASSERT_TRUE(diff);
        bool any = false;
        for (const FunctionDiff& f : diff->functions) {
            any |= f.significant;
            if (model.symbols().name(f.function)[0] == 'f') {
                intervals++;
                covered += std::abs(f.difference_ns) <= f.margin_ns;
            }
        }
        rounds_with_claims += any;
    }
    // 5 % asked for; three standard errors of 300 rounds are 3.8 points.
    EXPECT_LE(rounds_with_claims, rounds * 0.088);
    EXPECT_GE(covered, intervals * 0.94);
    EXPECT_LE(covered, intervals * 0.985); // an interval that is always right says nothing
}

// Ten calls of 148 ms among 2,400 that are slow by a percentile of microseconds: they hold most of
// the slow samples, and of what they do no fast call shows anything. Beside them some hundred
// functions that a few samples each fell into by chance.
TEST(Diff, FindsWhatTenSlowCallsHaveInCommon) {
    Model model;
    SyntheticStream stream(model);
    SpecId call = stream.probe(1, "call");
    stream.split(1, stream.fixed(7 * us));
    std::vector<uint64_t> durations(45'600, 3 * us);
    durations.insert(durations.end(), 2'390, 8 * us);
    durations.insert(durations.end(), 10, 148 * ms);
    stream.stats(ms, call, durations);
    std::mt19937 random(8);
    uint64_t at = 10 * ms;
    auto ended_call = [&](uint64_t duration, int samples, const std::string& function) {
        CallKey key = stream.call(call, at += 200 * ms);
        for (int i = 0; i < samples; i++)
            stream.sample(at + 1 + static_cast<uint64_t>(i), 1, stream.stack({"call", function}),
                          {key}, 2'500 * us);
        stream.end(1, key, duration);
    };
    for (int i = 0; i < 10; i++)
        ended_call(148 * ms, 51 + i % 5, "keysCommand");
    for (int i = 0; i < 600; i++) // by chance in slow calls as often as there are such
        ended_call((random() % 20 ? 3 : 8) * us, 1, "f" + std::to_string(random() % 300));
    Result<Diff> diff = diff_classes(model, {}, CallClass::slow, CallClass::fast);
    ASSERT_TRUE(diff);
    EXPECT_NEAR(diff->first.calls, 2'400, 1);
    ASSERT_FALSE(diff->functions.empty());
    EXPECT_EQ(model.symbols().name(diff->functions[0].function), "keysCommand");
    EXPECT_TRUE(diff->functions[0].significant);
    const FunctionDiff* split = find(model, *diff, "call");
    ASSERT_NE(split, nullptr);
    EXPECT_TRUE(split->by_split && split->sure());
    for (const FunctionDiff& f : diff->functions)
        EXPECT_EQ(f.sure(), &f == split || &f == &diff->functions[0])
            << model.symbols().name(f.function);
}

// The same cause in n of n slow calls and no fast one: from how many on it is sure, and that it is
// told before how many more it takes.
TEST(Diff, TellsHowManyMoreCallsItTakes) {
    auto with_slow_calls = [](uint64_t n) {
        auto model = std::make_unique<Model>();
        SyntheticStream stream(*model);
        SpecId handle = stream.probe(1, "handle");
        stream.split(1, stream.fixed(5 * ms));
        std::mt19937 random(7);
        std::vector<uint64_t> durations;
        for (uint64_t i = 1; i <= 20 * n; i++) {
            const bool slow = i % 20 == 0;
            CallKey call = stream.call(handle, i * 100 * ms);
            for (int k = 0; k < 30; k++) // what happens in any call
                if (random() % 3 == 0)
                    stream.sample(i * 100 * ms + 1, 1,
                                  stream.stack({"handle", "f" + std::to_string(k)}), {call}, ms);
            if (slow && i % 40 == 0) // every other slow one
                stream.sample(i * 100 * ms + 2, 1, stream.stack({"handle", "cause"}), {call},
                              9 * ms);
            durations.push_back((slow ? 10 : 1) * ms);
            stream.end(1, call, durations.back());
        }
        stream.stats(ms, handle, durations);
        return model;
    };
    uint64_t n = 4;
    auto cause_of = [](const Model& model) {
        Result<Diff> diff = diff_classes(model, {}, CallClass::slow, CallClass::fast);
        EXPECT_TRUE(diff);
        EXPECT_EQ(model.symbols().name(diff->functions[0].function), "cause"); // sure or not
        return diff->functions[0];
    };
    const FunctionDiff unsure = cause_of(*with_slow_calls(n));
    EXPECT_FALSE(unsure.sure());
    ASSERT_TRUE(unsure.candidate());
    // So it is with these, and not with half as many.
    EXPECT_TRUE(cause_of(*with_slow_calls(n + unsure.calls_needed + 2)).sure());
    EXPECT_FALSE(cause_of(*with_slow_calls(n + unsure.calls_needed / 2 - 1)).sure());
}

// As ClaimsNothingWhereNothingDiffers, with 3 to 20 slow calls only. Of 400 rounds a share of 5 %
// has a standard error of 1.1 points: three of these.
TEST(Diff, ClaimsNothingOfFewSlowCalls) {
    constexpr int rounds = 400;
    int rounds_with_claims = 0;
    for (int round = 0; round < rounds; round++) {
        Model model;
        SyntheticStream stream(model);
        SpecId handle = stream.probe(1, "handle");
        stream.split(1, stream.fixed(5 * ms));
        std::mt19937 random(static_cast<unsigned>(round));
        const unsigned slow_calls = 3 + random() % 18;
        std::vector<uint64_t> durations;
        for (uint64_t i = 1; i <= 300; i++) {
            CallKey call = stream.call(handle, i * 100 * ms);
            for (int f = 0; f < 20; f++)
                if (random() % 4 == 0)
                    for (unsigned n = 1 + random() % 8; n; n--)
                        stream.sample(i * 100 * ms + 1, 1,
                                      stream.stack({"handle", "f" + std::to_string(f)}), {call},
                                      ms);
            durations.push_back((i <= slow_calls ? 10 : 1) * ms);
            stream.end(1, call, durations.back());
        }
        stream.stats(ms, handle, durations);
        Result<Diff> diff = diff_classes(model, {}, CallClass::slow, CallClass::fast);
        ASSERT_TRUE(diff);
        bool any = false;
        for (const FunctionDiff& f : diff->functions)
            any |= f.significant;
        rounds_with_claims += any;
    }
    EXPECT_LE(rounds_with_claims, rounds * (0.05 + 3 * 0.011));
}

TEST(Diff, SaysWhyItCannotCompare) {
    Model model;
    SyntheticStream stream(model);
    stream.probe(1, "handle");
    EXPECT_FALSE(diff_classes(model, {}, CallClass::slow, CallClass::fast));
    stream.split(1, stream.percentile(95));
    Result<Diff> warming = diff_classes(model, {}, CallClass::slow, CallClass::fast);
    ASSERT_FALSE(warming);
    EXPECT_NE(warming.error().message().find("0 of 100 calls"), std::string::npos);
    stream.split(1, stream.fixed(1));
    EXPECT_FALSE(diff_classes(model, {}, CallClass::slow, CallClass::outside));
    EXPECT_FALSE(diff_classes(model, {}, CallClass::slow, CallClass::slow));
}

} // namespace
} // namespace auger
