// SPDX-License-Identifier: GPL-3.0-or-later
// Panes by themselves: what they show at a narrow and a wide size, what keys do in them, and that
// they stay where the user is while data streams in.
#include "tests/unit/golden.h"
#include "tests/unit/panes_fixture.h"
#include "tests/unit/screen_fixture.h"
#include "views/screen/calls_pane.h"
#include "views/screen/difference_pane.h"
#include "views/screen/histogram_pane.h"
#include "views/screen/strip_pane.h"
#include "views/screen/table_pane.h"
#include "views/screen/threads_pane.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace auger {
namespace {

std::vector<std::unique_ptr<Pane>> all_panes(bool unicode = true) {
    std::vector<std::unique_ptr<Pane>> panes;
    for (auto make : {make_difference_pane, make_histogram_pane, make_calls_pane, make_table_pane,
                      make_threads_pane, make_strip_pane})
        panes.push_back(make({.unicode = unicode}));
    return panes;
}

void check(const std::string& name, const std::string& text) {
    expect_golden("panes/" + name, text);
}

TEST_F(Panes, Golden) {
    for (auto& pane : all_panes()) {
        settle(*pane, model);
        const std::string name(pane->name());
        for (const auto& [width, height] : {std::pair{40, 12}, {120, 24}}) {
            const size_t rows = name == "strip" ? 3 : height;
            drawn(*pane, width, rows);
            settle(*pane, model); // what is found may depend on the room
            check(fmt::format("{}_{}.txt", name, width), drawn(*pane, width, rows));
        }
    }
}

TEST_F(Panes, StayWithinTheirRectangleWhateverItIs) {
    Model empty;
    for (const Model* m : {static_cast<const Model*>(&model), static_cast<const Model*>(&empty)})
        for (bool unicode : {true, false})
            for (auto& pane : all_panes(unicode)) {
                drawn(*pane, 30, 5); // before anything is known
                settle(*pane, *m);
                for (size_t width : {0, 1, 2, 7, 39, 40, 57, 64, 80, 119, 200, 400})
                    for (size_t height : {0, 1, 2, 3, 5, 9, 40}) {
                        const std::string text = drawn(*pane, width, height, 3, 2);
                        for (char c : unicode ? "" : text)
                            ASSERT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << text;
                    }
            }
}

TEST_F(Panes, EveryActionIsSafeAnywhere) {
    Model empty;
    for (const Model* m : {static_cast<const Model*>(&model), static_cast<const Model*>(&empty)})
        for (auto& pane : all_panes()) {
            for (int round = 0; round < 3; round++)
                for (auto a = Action::up; a <= Action::redraw;
                     a = static_cast<Action>(static_cast<int>(a) + 1)) {
                    act(*pane, a, *m);
                    pane->subject().function;
                    EXPECT_FALSE(pane->command().empty());
                    drawn(*pane, 60, 12);
                    std::vector<Wish> wishes;
                    pane->click(static_cast<size_t>(round * 7), static_cast<size_t>(a) % 12,
                                round == 2, *m, {}, wishes);
                    EXPECT_FALSE(pane->search("(", *m).empty());
                    pane->search("a", *m);
                }
        }
}

TEST_F(Panes, SayWhatIsMissing) {
    Model empty;
    auto text = [&](const Model& m, auto make) {
        auto pane = make({});
        settle(*pane, m);
        return drawn(*pane, 80, 10);
    };
    EXPECT_NE(text(empty, make_difference_pane).find("Press s on a function"), std::string::npos);
    EXPECT_NE(text(empty, make_histogram_pane).find("Press t on"), std::string::npos);
    EXPECT_NE(text(empty, make_calls_pane).find("Press S on a function"), std::string::npos);
    EXPECT_NE(text(empty, make_table_pane).find("No samples"), std::string::npos);
    EXPECT_NE(text(empty, make_threads_pane).find("No samples"), std::string::npos);

    PaneSession fresh;
    fresh.serve(20);
    EXPECT_NE(text(fresh.model, make_difference_pane).find("warming up: 20 of"), std::string::npos);
    EXPECT_NE(text(fresh.model, make_histogram_pane).find("warming up: 20 of"), std::string::npos);
}

TEST_F(Panes, TheTableDescendsAndComesBack) {
    auto pane = make_table_pane({});
    settle(*pane, model);
    pane->search("^respond$", model);
    const auto respond = pane->subject().function;
    ASSERT_TRUE(respond);
    EXPECT_EQ(model.symbols().name(*respond), "respond");
    act(*pane, Action::enter, model);
    std::string text = drawn(*pane, 80, 12);
    EXPECT_NE(text.find("Called by respond"), std::string::npos);
    EXPECT_NE(text.find("send"), std::string::npos);
    EXPECT_NE(text.find("lookup"), std::string::npos);
    EXPECT_EQ(text.find("handle"), std::string::npos);
    act(*pane, Action::callers, model); // of `send`, which is the first
    text = drawn(*pane, 80, 12);
    EXPECT_NE(text.find("Callers of send"), std::string::npos);
    EXPECT_NE(text.find("100.0 %  respond"), std::string::npos);
    act(*pane, Action::back, model);
    EXPECT_NE(drawn(*pane, 80, 12).find("Called by respond"), std::string::npos);
    act(*pane, Action::back, model);
    EXPECT_EQ(pane->subject().function, respond);
    EXPECT_NE(drawn(*pane, 80, 12).find("handle"), std::string::npos);
    // From another pane.
    ASSERT_TRUE(pane->turn_to(*respond, Action::callers, model));
    settle(*pane, model);
    EXPECT_NE(drawn(*pane, 80, 12).find("Callers of respond"), std::string::npos);
}

TEST_F(Panes, SearchMarksAndCounts) {
    auto pane = make_table_pane({});
    settle(*pane, model);
    EXPECT_EQ(pane->search("parse|send|nothing", model).substr(0, 6), "1 of 2");
    EXPECT_EQ(rows_filled(*pane, Fill::match, 80, 20).size(), 1u); // and the cursor on the other
    const auto wishes = act(*pane, Action::next_match, model);
    ASSERT_EQ(wishes.size(), 1u);
    EXPECT_EQ(wishes[0].text.substr(0, 6), "2 of 2");
    EXPECT_EQ(model.symbols().name(*pane->subject().function), "send");
    EXPECT_EQ(pane->search("nothing", model), "no match");
    EXPECT_EQ(rows_filled(*pane, Fill::match, 80, 20).size(), 0u);
    pane->search(std::nullopt, model);
}

TEST_F(Panes, TheThresholdGoesFromBarToBar) {
    auto pane = make_histogram_pane({});
    settle(*pane, model);
    drawn(*pane, 100, 20);
    EXPECT_EQ(pane->command(), "hist handle");
    auto moved = [&](Action action) {
        const auto wishes = act(*pane, action, model);
        EXPECT_EQ(wishes.size(), 1u);
        const std::string begin = "threshold handle ";
        EXPECT_EQ(wishes[0].kind, Wish::Kind::run);
        EXPECT_EQ(wishes[0].text.substr(0, begin.size()), begin);
        return wishes[0].text.substr(begin.size());
    };
    const uint64_t now = model.split_state().value_ns;
    ASSERT_GT(now, 1200 * us);
    ASSERT_LT(now, 1220 * us);
    EXPECT_EQ(moved(Action::threshold_up), "1.25ms");
    EXPECT_EQ(moved(Action::threshold_down), "1.18ms");
    session.stream.split(1, session.stream.fixed(1250 * us));
    settle(*pane, model);
    EXPECT_EQ(moved(Action::threshold_down), "1.18ms");

    // In one step to where durations part: scans, of 6 ms more, are a heap of their own.
    const auto gap = act(*pane, Action::gap_up, model);
    ASSERT_EQ(gap.size(), 1u);
    EXPECT_EQ(gap[0].kind, Wish::Kind::run) << gap[0].text;
    EXPECT_EQ(gap[0].text.substr(0, 17), "threshold handle ");
    const double to = std::stod(gap[0].text.substr(17));
    EXPECT_TRUE(gap[0].text.ends_with("ms") && to > 1.25 && to < 7) << gap[0].text;

    // Of a function that the split is not on, the same key makes the split.
    act(*pane, Action::down, model);
    act(*pane, Action::down, model);
    EXPECT_EQ(pane->command(), "hist \"ns::parse<int>\"");
    const auto wishes = act(*pane, Action::threshold_up, model);
    ASSERT_EQ(wishes.size(), 1u);
    EXPECT_EQ(wishes[0].text.substr(0, 24), "split \"ns::parse<int>\" >");
}

TEST_F(Panes, ARangeOfDurationsNarrowsWhatIsShown) {
    auto pane = make_histogram_pane({});
    settle(*pane, model);
    drawn(*pane, 100, 20);
    act(*pane, Action::select_range, model); // begins at the threshold
    for (int i = 0; i < 3; i++)
        act(*pane, Action::right, model);
    const auto wishes = act(*pane, Action::select_range, model);
    ASSERT_FALSE(wishes.empty());
    ASSERT_EQ(wishes[0].kind, Wish::Kind::scope);
    const auto range = wishes[0].scope.filter.range;
    ASSERT_TRUE(range);
    EXPECT_LE(range->from_ns, model.split_state().value_ns);
    EXPECT_GT(range->to_ns, model.split_state().value_ns);

    // Enter: only the bar under the cursor, in the flame. All calls that took longest.
    act(*pane, Action::last, model);
    const auto last = act(*pane, Action::enter, model);
    ASSERT_EQ(last[0].kind, Wish::Kind::scope);
    EXPECT_EQ(last.back().kind, Wish::Kind::show);
    const CallStatistics calls = model.probe_statistics(ProbeId{1});
    EXPECT_LE(last[0].scope.filter.range->from_ns, calls.max_ns);
    EXPECT_GT(last[0].scope.filter.range->to_ns, calls.max_ns);

    // The class is that of the split's calls: another function is split on first.
    act(*pane, Action::down, model);
    drawn(*pane, 100, 20);
    const auto other = act(*pane, Action::enter, model);
    EXPECT_EQ(other[0].kind, Wish::Kind::run);
    EXPECT_EQ(other[0].text, "split libc:recv > p95");
}

TEST_F(Panes, TheStripCountsEverySampleAndSlowCall) {
    auto pane = make_strip_pane({});
    for (size_t width : {40, 120}) {
        settle(*pane, model);
        drawn(*pane, width, 3);
        settle(*pane, model);
        act(*pane, Action::first, model);
        act(*pane, Action::select_range, model);
        act(*pane, Action::last, model);
        const std::string text = drawn(*pane, width, 3);
        const std::string all = "2,936 samples, 20 slow";
        EXPECT_EQ(model.samples().size(), 2936u);
        EXPECT_NE(text.find(all), std::string::npos) << text;
        act(*pane, Action::back, model);
    }
}

TEST_F(Panes, ASpanOfTheStripIsAWindowInThePast) {
    auto pane = make_strip_pane({});
    drawn(*pane, 100, 3);
    scope.window = {Window::Kind::ewma, 10'000 * ms, 0};
    settle(*pane, model, scope);
    drawn(*pane, 100, 3);
    settle(*pane, model, scope);
    act(*pane, Action::first, model, scope);
    act(*pane, Action::select_range, model, scope);
    for (int i = 0; i < 4; i++)
        act(*pane, Action::right, model, scope);
    const auto wishes = act(*pane, Action::select_range, model, scope);
    ASSERT_EQ(wishes.size(), 1u);
    EXPECT_EQ(wishes[0].text, "window 2.5s until 2.49s");
    scope.window = {Window::Kind::last, 2500 * ms, model.first_ns() + 2490 * ms};
    settle(*pane, model, scope);
    EXPECT_FALSE(rows_filled(*pane, Fill::match, 100, 3).empty());
    const auto back = act(*pane, Action::back, model, scope);
    ASSERT_EQ(back.size(), 1u);
    EXPECT_EQ(back[0].text, "ewma 10s");
}

TEST_F(Panes, AThreadIsFilteredByEnter) {
    auto pane = make_threads_pane({});
    settle(*pane, model);
    act(*pane, Action::last, model);
    const auto wishes = act(*pane, Action::enter, model);
    ASSERT_EQ(wishes.size(), 1u);
    EXPECT_EQ(wishes[0].kind, Wish::Kind::run);
    EXPECT_EQ(wishes[0].text, "filter tid 104");
    EXPECT_NE(row_at_cursor(*pane).find("104"), std::string::npos);
    // The one that is filtered for already.
    Scope filtered;
    filtered.threads = "tid 104";
    std::vector<Wish> again;
    pane->act(Action::enter, model, filtered, again);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].text, "filter tid off");
}

TEST_F(Panes, ADifferenceLeadsToTheFlame) {
    auto pane = make_difference_pane({});
    settle(*pane, model);
    const auto wishes = act(*pane, Action::enter, model);
    ASSERT_EQ(wishes.size(), 1u);
    EXPECT_EQ(wishes[0].kind, Wish::Kind::show);
    EXPECT_EQ(wishes[0].text, "flame");
    EXPECT_EQ(pane->command(), "diff slow fast");
}

// However much was collected: no refresh looks at all of it, and the time between is long enough.
TEST(PanesOfAMillionSamples, WorkInStepsAndRests) {
    Model model(1'000'000);
    SyntheticStream stream(model);
    const SpecId spec = stream.probe(1, "handle");
    stream.split(1, stream.fixed(2 * ms));
    std::vector<StackId> stacks;
    for (int i = 0; i < 300; i++)
        stacks.push_back(stream.stack({"main", "handle", fmt::format("leaf_{}", i)}));
    for (uint64_t i = 0; i < 250'000; i++) {
        const CallKey call = stream.call(spec, i * ms);
        for (uint64_t n = 0; n < 4; n++)
            stream.sample(i * ms + n, 1 + i % 50, stacks[(i + n) % 300], {call});
        stream.end(1 + i % 50, call, i % 10 ? ms : 5 * ms);
    }
    stream.stats(250'000 * ms, spec, {ms, 5 * ms});
    ASSERT_EQ(model.samples().size(), 1'000'000u);
    for (auto make : {make_difference_pane, make_table_pane, make_threads_pane}) {
        auto pane = make({});
        int steps = 0;
        while (pane->refresh(model, {}, TimeSlice::one_step()))
            steps++;
        EXPECT_GE(steps, 40) << pane->name();
        int walks = 0;
        bool busy = false;
        for (int frame = 0; frame < 100; frame++) {
            model.on_time(model.now_ns() + 10 * ms);
            uint64_t looks = 0;
            const TimeSlice slice([&] { return looks++; }, std::chrono::nanoseconds(20));
            const bool more = pane->refresh(model, {}, slice);
            EXPECT_LE(looks, 25) << pane->name();
            walks += more && !busy;
            busy = more;
        }
        EXPECT_LE(walks, 4) << pane->name(); // as often as a small one may: 5
        EXPECT_NE(drawn(*pane, 100, 10).find(pane->name() == "threads" ? "service" : "leaf_"),
                  std::string::npos);
    }
}

TEST(PanesOnTheScreen, ADifferenceIsFoundInTheFlame) {
    ScreenFixture on;
    on.time_handle();
    on.split_handle();
    on.serve(1, 2000);
    auto settled = [&] {
        for (int i = 0; i < 100 && on.screen.refresh(on.state, TimeSlice::endless()); i++)
            ;
        return to_text(on.screen.draw(120, 40));
    };
    auto press = [&](const Key& key) { return on.screen.press(key); };
    settled();
    press({.character = '2'});
    EXPECT_NE(settled().find("[2 difference]"), std::string::npos);
    press({.code = Key::Code::enter});
    const std::string flame = settled();
    EXPECT_NE(flame.find("[1 flame]"), std::string::npos);
    EXPECT_NE(flame.find(">full_scan"), std::string::npos) << flame;

    // A span of the strip is the session's window; `reset` anywhere lets it go.
    press({.character = '7'});
    settled();
    press({.code = Key::Code::left});
    const auto selected = press({.code = Key::Code::enter});
    ASSERT_EQ(selected.size(), 1u);
    EXPECT_EQ(selected[0].line.substr(0, 7), "window ");
    EXPECT_NE(selected[0].line.find(" until "), std::string::npos);
    on.state.window = {Window::Kind::last, 500 * ms, on.model.now_ns() - 500 * ms};
    settled();
    press({.character = '1'});
    const auto reset = press({.character = 'r'});
    ASSERT_EQ(reset.size(), 1u);
    EXPECT_EQ(reset[0].line, "window all");
}

} // namespace
} // namespace auger
