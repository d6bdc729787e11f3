// SPDX-License-Identifier: GPL-3.0-or-later
// What panes are made of: cursors of lists, bars of histograms, walks over samples in steps.
#include "tests/unit/pane_session.h"
#include "views/model/diff.h"
#include "views/model/function_pass.h"
#include "views/screen/histogram_layout.h"
#include "views/screen/list_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace auger {
namespace {

TEST(ListCursor, StaysOnItsKeyAndInSightWhateverHappens) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; round++) {
        ListCursor cursor(round % 2);
        std::vector<uint64_t> keys;
        for (int step = 0; step < 100; step++) {
            const auto key = cursor.key();
            const bool followed = cursor.follows_first();
            if (random() % 2) {
                for (auto n = random() % 4; n > 0; n--)
                    keys.push_back(random());
                if (!keys.empty() && random() % 3 == 0)
                    keys.erase(keys.begin() + random() % keys.size());
                std::shuffle(keys.begin(), keys.end(), random);
                cursor.update(keys);
                const bool kept = key && std::ranges::find(keys, *key) != keys.end();
                if (followed) {
                    ASSERT_EQ(cursor.row(), 0u);
                } else if (kept) {
                    ASSERT_EQ(cursor.key(), key);
                }
            } else {
                const auto action = static_cast<Action>(random() % (int(Action::last) + 1));
                cursor.act(action, random() % 10);
                ASSERT_TRUE(keys.empty() || cursor.row() < keys.size());
            }
            ASSERT_EQ(cursor.rows(), keys.size());
            ASSERT_EQ(cursor.key().has_value(), !keys.empty());
            const size_t height = random() % 8;
            const size_t top = cursor.top(height);
            if (!keys.empty()) {
                ASSERT_LE(top, cursor.row());
                ASSERT_LT(cursor.row() - top, std::max<size_t>(height, 1));
            }
        }
    }
}

TEST(HistogramLayout, BarsHoldEveryCallOnce) {
    PaneSession session;
    session.serve(3000);
    const CallStatistics calls = session.model.probe_statistics(ProbeId{1});
    ASSERT_EQ(calls.durations.total(), 3000);
    for (size_t width = 1; width < 500; width++) {
        const HistogramLayout layout = lay_out_histogram(calls.durations, width);
        ASSERT_LE(layout.width(), width);
        double sum = 0;
        for (size_t i = 0; i < layout.bars.size(); i++) {
            sum += layout.bars[i].count;
            ASSERT_TRUE(i == 0 || layout.bars[i].first == layout.bars[i - 1].end);
            ASSERT_EQ(layout.bar_of(layout.bars[i].first), i);
            ASSERT_EQ(layout.bar_at(i * layout.columns), i);
        }
        ASSERT_EQ(sum, calls.returns);
    }
    EXPECT_TRUE(lay_out_histogram({}, 80).bars.empty());
}

TEST(HistogramLayout, BoundsCanBeWalkedUpAndDown) {
    PaneSession session;
    session.serve(3000);
    const CallStatistics calls = session.model.probe_statistics(ProbeId{1});
    for (size_t width : {10, 40, 100, 400}) {
        const HistogramLayout layout = lay_out_histogram(calls.durations, width);
        std::vector<uint64_t> up;
        for (std::optional<uint64_t> at = 1; (at = next_bound(layout, *at, true));) {
            up.push_back(*at);
            ASSERT_LE(up.size(), layout.bars.size());
        }
        EXPECT_TRUE(std::ranges::is_sorted(up, std::less_equal<>()));
        EXPECT_GE(up.size() + 2, layout.bars.size());
        std::vector<uint64_t> down;
        for (std::optional<uint64_t> at = UINT64_MAX; (at = next_bound(layout, *at, false));) {
            down.push_back(*at);
            ASSERT_LE(down.size(), layout.bars.size());
        }
        std::ranges::reverse(down);
        EXPECT_EQ(up, down);
    }
    EXPECT_EQ(round_duration(1'048'576), 1'050'000u);
    EXPECT_EQ(round_duration(999), 999u);
    EXPECT_EQ(round_duration(999'999), 1'000'000u);
}

using Sums = std::map<std::string, std::pair<SampleSum, SampleSum>>;

Sums sums_of(const Model& model, const std::vector<FunctionSums>& functions) {
    Sums sums;
    for (const FunctionSums& f : functions)
        sums[std::string(model.symbols().name(f.function))] = {f.self.sum(), f.total.sum()};
    return sums;
}

void expect_same(const Sums& a, const Sums& b) {
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, sums] : a) {
        const auto& [self, total] = b.at(name);
        EXPECT_DOUBLE_EQ(sums.first.weight_ns, self.weight_ns) << name;
        EXPECT_DOUBLE_EQ(sums.second.weight_ns, total.weight_ns) << name;
        EXPECT_DOUBLE_EQ(sums.second.samples, total.samples) << name;
        EXPECT_DOUBLE_EQ(sums.second.blocked_ns, total.blocked_ns) << name;
    }
}

TEST(FunctionPass, StepsAddUpToTheWhole) {
    PaneSession session;
    session.serve(3000);
    Model& model = session.model;
    for (const ClassFilter& filter : {ClassFilter(), ClassFilter(CallClass::slow)})
        for (size_t step : {1, 17, 1'000'000}) {
            FunctionPass pass(model, {}, filter);
            while (pass.work(step))
                ;
            expect_same(sums_of(model, pass.functions()),
                        sums_of(model, sum_functions(model, {}, filter)));
            double self = 0;
            for (const FunctionSums& f : pass.functions())
                self += f.self.sum().samples;
            EXPECT_EQ(self, pass.whole().sum().samples);
            EXPECT_TRUE(!filter.all() || self == model.samples().size());
        }
}

TEST(FunctionPass, FindsNeighbours) {
    Model model;
    SyntheticStream stream(model);
    stream.sample(1, 1, stream.stack({"main", "f", "f", "g", "f", "h"}));
    stream.sample(2, 1, stream.stack({"main", "f"}));
    stream.sample(3, 1, stream.stack({"f", "g"}));
    stream.sample(4, 1, stream.stack({"main", "x"}));
    FunctionId f{};
    for (uint32_t i = 0; i < model.symbols().functions(); i++)
        if (model.symbols().name(FunctionId{i}) == "f")
            f = FunctionId{i};
    auto samples = [&](FunctionFocus::Kind kind, ClassSums& none, ClassSums& whole) {
        FunctionPass pass(model, {}, {}, FunctionFocus{f, kind});
        while (pass.work(1))
            ;
        none = pass.none();
        whole = pass.whole();
        std::map<std::string, std::pair<double, double>> found;
        for (const FunctionSums& n : pass.functions())
            found[std::string(model.symbols().name(n.function))] = {n.total.sum().samples,
                                                                    n.self.sum().samples};
        return found;
    };
    using Found = std::map<std::string, std::pair<double, double>>;
    ClassSums none, whole;
    EXPECT_EQ(samples(FunctionFocus::Kind::callers, none, whole),
              (Found{{"main", {2, 1}}, {"g", {1, 0}}}));
    EXPECT_EQ(none.sum().samples, 1);
    EXPECT_EQ(whole.sum().samples, 3);
    EXPECT_EQ(samples(FunctionFocus::Kind::callees, none, whole),
              (Found{{"g", {2, 1}}, {"h", {1, 1}}}));
    EXPECT_EQ(none.sum().samples, 1);
}

// What comes while a walk goes on is not in it, though it takes the places of what was.
TEST(SamplePass, IsOfTheMomentWhenItBegan) {
    for (size_t capacity : {1000, 100}) {
        Model model(capacity);
        SyntheticStream stream(model);
        const SpecId spec = stream.probe(1, "f");
        stream.split(1, stream.fixed(1000));
        const StackId stack = stream.stack({"f"});
        uint64_t time = 0;
        auto feed = [&](size_t samples) {
            for (size_t i = 0; i < samples; i++) {
                const CallKey call = stream.call(spec, ++time);
                // A late one, too.
                stream.sample(i % 5 ? time : time - std::min<uint64_t>(time, 30), 1, stack, {call});
                stream.end(1, call, i % 2 ? 500 : 5000);
            }
        };
        feed(137);
        for (int round = 0; round < 50; round++) {
            SamplePass pass(model, {}, {});
            const size_t held = model.samples().size();
            const uint64_t received = model.samples_received(), began = time;
            size_t seen = 0;
            bool more = true;
            while (more) {
                more = pass.work(9, [&](size_t i, CallClass c, double) {
                    seen++;
                    EXPECT_LE(model.samples().times()[i], began);
                    EXPECT_NE(c, CallClass::outside);
                });
                feed(3);
            }
            EXPECT_LE(seen, held);
            const uint64_t since = model.samples_received() - received;
            EXPECT_GE(seen + since, held);
            EXPECT_TRUE(model.samples_evicted() || seen == held);
        }
    }
}

// A comparison in steps is of the moment when it began, whatever streams in meanwhile.
TEST(DiffPass, IsOfTheMomentWhenItBegan) {
    PaneSession session;
    session.serve(3000);
    Model& model = session.model;
    session.stream.split(1, session.stream.fixed(2 * ms));
    auto expected = diff_classes(model, {}, CallClass::slow, CallClass::fast);
    auto pass = DiffPass::begin(model, {}, CallClass::slow, CallClass::fast, true);
    ASSERT_TRUE(expected && pass);
    for (int step = 0; pass->work(step % 3 ? 100 : 1000); step++) {
        ASSERT_LT(step, 10'000);
        if (step < 50)
            session.serve(10);
        // Other thresholds and names do not reach it either.
        session.stream.split(1, session.stream.fixed((step % 9 + 1) * ms));
        if (step < 100)
            session.stream.sample(model.now_ns(), 1, session.path({fmt::format("new_{}", step)}));
    }
    ASSERT_EQ(model.samples_evicted(), 0u);
    const Diff diff = pass->take();
    EXPECT_EQ(diff.first.calls, expected->first.calls);
    EXPECT_EQ(diff.second.calls, expected->second.calls);
    EXPECT_EQ(diff.first.samples.samples, expected->first.samples.samples);
    EXPECT_EQ(diff.second.sampled_calls, expected->second.sampled_calls);
    ASSERT_EQ(diff.functions.size(), expected->functions.size());
    for (size_t i = 0; i < diff.functions.size(); i++) {
        EXPECT_EQ(diff.functions[i].function, expected->functions[i].function);
        EXPECT_DOUBLE_EQ(diff.functions[i].difference_ns, expected->functions[i].difference_ns);
        EXPECT_DOUBLE_EQ(diff.functions[i].margin_ns, expected->functions[i].margin_ns);
        EXPECT_EQ(diff.functions[i].significant, expected->functions[i].significant);
    }
    EXPECT_EQ(diff.stacks.size(), expected->stacks.size());
}

} // namespace
} // namespace auger
