// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison per call on streams whose truth is known.
#include "tests/unit/synthetic_stream.h"
#include "views/model/diff.h"
#include "views/model/student.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace auger {
namespace {

constexpr uint64_t us = 1000, ms = 1'000'000;

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
    EXPECT_NEAR(lookup->own_difference_ns, 0, 1);
    EXPECT_EQ(find(model, *diff, "main"), nullptr); // a caller explains nothing
    const FunctionDiff* even = find(model, *diff, "parse");
    ASSERT_NE(even, nullptr);
    EXPECT_FALSE(even->significant);
    EXPECT_EQ(model.symbols().name(diff->stacks[0].path.back()), "scan");
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
