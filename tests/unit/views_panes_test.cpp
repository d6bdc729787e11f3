// SPDX-License-Identifier: GPL-3.0-or-later
// Panes by themselves: what they show at a narrow and a wide size, what keys do in them, and that
// they stay where the user is while data streams in.
#include "tests/unit/golden.h"
#include "tests/unit/pane_session.h"
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

void settle(Pane& pane, const Model& model, const Scope& scope = {}) {
    for (int i = 0; pane.refresh(model, scope, TimeSlice::one_step()); i++)
        ASSERT_LT(i, 1000);
}

std::string drawn(Pane& pane, size_t width, size_t height, size_t x = 0, size_t y = 0) {
    Canvas canvas(x + width + 7);
    pane.draw(canvas, {x, y, width, height}, true);
    EXPECT_LE(canvas.height(), y + height) << pane.name();
    for (size_t row = 0; row < canvas.height(); row++) {
        EXPECT_LE(canvas.row(row).size(), x + width) << pane.name();
        for (size_t column = 0; column < canvas.row(row).size(); column++) {
            const Cell& cell = canvas.row(row)[column];
            EXPECT_TRUE(cell.text.empty() || static_cast<unsigned char>(cell.text[0]) >= 0x20);
            if (row < y || column < x) {
                EXPECT_EQ(cell.text, " ") << pane.name() << " draws outside of its rectangle";
            }
        }
    }
    return to_text(canvas);
}

// Where the cursor's background is, and a match's: "3" for a row.
std::vector<size_t> rows_filled(Pane& pane, Fill fill, size_t width, size_t height) {
    Canvas canvas(width);
    pane.draw(canvas, {0, 0, width, height}, true);
    std::vector<size_t> rows;
    for (size_t y = 0; y < canvas.height(); y++)
        if (!canvas.row(y).empty() && canvas.row(y)[0].fill == fill)
            rows.push_back(y);
    return rows;
}

std::vector<Wish> act(Pane& pane, Action action, const Model& model, const Scope& scope = {}) {
    std::vector<Wish> wishes;
    pane.act(action, model, scope, wishes);
    settle(pane, model, scope);
    return wishes;
}

void check(const std::string& name, const std::string& text) {
    expect_golden("panes/" + name, text);
}

class Panes : public testing::Test {
  protected:
    Panes() { session.serve(2000); }

    PaneSession session;
    Model& model = session.model;
    Scope scope;
};

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

// The row that the cursor is on, as drawn.
std::string row_at_cursor(Pane& pane, size_t width = 100, size_t height = 30) {
    Canvas canvas(width);
    pane.draw(canvas, {0, 0, width, height}, true);
    const std::vector<size_t> rows = rows_filled(pane, Fill::cursor, width, height);
    EXPECT_EQ(rows.size(), 1u);
    std::string text;
    for (size_t x = 0; !rows.empty() && x < canvas.row(rows[0]).size(); x++)
        text += canvas.row(rows[0])[x].text;
    return text;
}

TEST_F(Panes, TheCursorStaysOnAFunctionWhileOthersOvertakeIt) {
    for (auto make : {make_table_pane, make_difference_pane}) {
        PaneSession other;
        other.serve(2000);
        auto pane = make({});
        settle(*pane, other.model);
        act(*pane, Action::down, other.model);
        act(*pane, Action::down, other.model);
        const auto before = pane->subject().function;
        ASSERT_TRUE(before);
        const std::string all = drawn(*pane, 100, 30);
        // A function that nobody has seen so far takes most of the time from now on.
        for (uint64_t i = 0; i < 4000; i++) {
            const uint64_t start = other.model.now_ns() + 10 * ms;
            const CallKey call = other.stream.call(other.handle, start);
            other.stream.sample(start + ms, 101, other.path({"new_one", "new_leaf"}), {call},
                                20 * ms);
            other.stream.end(101, call, 20 * ms);
            other.stream.stats(start, other.handle, {20 * ms});
            other.model.on_time(start);
        }
        settle(*pane, other.model);
        EXPECT_NE(drawn(*pane, 100, 30), all);
        EXPECT_EQ(pane->subject().function, before) << pane->name();
        const std::string name(other.model.symbols().name(*before));
        EXPECT_NE(row_at_cursor(*pane).find(name.substr(0, 4)), std::string::npos);
    }
}

TEST_F(Panes, CallsFollowTheNewestUntilTheCursorIsMoved) {
    auto pane = make_calls_pane({});
    settle(*pane, model);
    EXPECT_NE(row_at_cursor(*pane).find("+19.070 s"), std::string::npos);
    session.serve(200);
    settle(*pane, model);
    EXPECT_NE(row_at_cursor(*pane).find("+21.070 s"), std::string::npos);

    act(*pane, Action::down, model);
    const std::string chosen = row_at_cursor(*pane);
    EXPECT_NE(chosen.find("+20.070 s"), std::string::npos);
    session.serve(1000);
    settle(*pane, model);
    EXPECT_EQ(row_at_cursor(*pane), chosen);
    // By duration it stands elsewhere, and is still that call.
    act(*pane, Action::sort, model);
    EXPECT_EQ(row_at_cursor(*pane), chosen);
    act(*pane, Action::sort, model);

    act(*pane, Action::first, model);
    session.serve(100);
    settle(*pane, model);
    EXPECT_NE(row_at_cursor(*pane).find("+32.071 s"), std::string::npos);
}

TEST_F(Panes, DetailsOfACallOutliveIt) {
    auto pane = make_calls_pane({});
    settle(*pane, model);
    act(*pane, Action::last, model);
    const std::string before = drawn(*pane, 120, 24);
    EXPECT_NE(before.find("in a call of handle:"), std::string::npos);
    // Frozen: other calls come, this one is given up, and a key is pressed.
    session.serve(60'000);
    ASSERT_GT(model.slow_calls_received(), model.slow_calls().size() + 20);
    EXPECT_EQ(drawn(*pane, 120, 24), before);
    std::vector<Wish> wishes;
    pane->act(Action::up, model, scope, wishes);
    EXPECT_NE(drawn(*pane, 120, 24).find("given up"), std::string::npos);
}

// The wait itself, with its line and who ended it, where it is a sample; not where the call began.
TEST_F(Panes, ACallIsShownWhereItWaitedLongest) {
    SyntheticStream& stream = session.stream;
    const uint64_t start = model.now_ns() + ms;
    const CallKey handled = stream.call(session.handle, start);
    const CallKey called = stream.call(session.recv, start + us);
    const StackId brief = session.path({"recv", "lookup_host"}), slept = session.path({"recv"});
    const StackId held = session.path({"recv", "lock_journal", "s:futex"});
    stream.sample(start + 2 * ms, 102, brief, {handled, called}, ms, SampleKind::blocked);
    stream.sample(start + 9 * ms, 102, held, {handled, called}, 6 * ms, SampleKind::blocked);
    // Longer, but of another call, or no wait.
    stream.sample(start + 9 * ms, 103, slept, {}, 8 * ms, SampleKind::blocked);
    stream.sample(start + 9 * ms, 102, slept, {handled, called}, ms, SampleKind::cpu);
    model.on_slow_call({{start + 10 * ms, 10 * ms, stream.thread(102), called, 8, false, {}},
                        5 * ms,
                        slept,
                        {6 * ms, "futex(0x1000)"},
                        {},
                        {&handled, 1}});
    model.on_time(start + 11 * ms);
    auto pane = make_calls_pane({});
    settle(*pane, model);
    const std::string text = drawn(*pane, 120, 24);
    EXPECT_NE(text.find("the stack of its longest wait:"), std::string::npos) << text;
    EXPECT_NE(text.find("lock_journal"), std::string::npos) << text;
    EXPECT_EQ(text.find("lookup_host"), std::string::npos) << text;
    EXPECT_NE(text.find("sample wall wakers"), std::string::npos) << text;
}

TEST_F(Panes, ACallThatRanIsShownWhereItRanMost) {
    SyntheticStream& stream = session.stream;
    const uint64_t start = model.now_ns() + ms;
    const CallKey handled = stream.call(session.handle, start);
    const CallKey called = stream.call(session.recv, start + us);
    const StackId scan = session.path({"recv", "scan_products"}),
                  copy = session.path({"recv", "copy"});
    for (uint64_t at = 2; at < 8; at++)
        stream.sample(start + at * ms, 102, at == 4 ? copy : scan, {handled, called}, ms);
    stream.sample(start + 9 * ms, 102, session.path({"recv", "brief"}), {handled, called}, ms,
                  SampleKind::blocked);
    model.on_slow_call({{start + 10 * ms, 10 * ms, stream.thread(102), called, 8, false, {}},
                        5 * ms,
                        session.path({"recv"}),
                        {},
                        {},
                        {&handled, 1}});
    model.on_time(start + 11 * ms);
    auto pane = make_calls_pane({});
    settle(*pane, model);
    const std::string text = drawn(*pane, 120, 24);
    EXPECT_NE(text.find("the heaviest stack of its 6 samples on the CPU:"), std::string::npos)
        << text;
    EXPECT_NE(text.find("scan_products"), std::string::npos) << text;
}

// Whatever may be chance comes behind all that is sure.
TEST_F(Panes, DifferencesThatAreSureComeFirst) {
    auto pane = make_difference_pane({});
    settle(*pane, model);
    for (int order = 0; order < 3; order++) {
        const std::string text = drawn(*pane, 160, 60);
        // The head's "?" is none: rows have theirs behind the margin.
        const size_t doubtful = text.find("?");
        EXPECT_GT(doubtful, text.rfind("recv")) << text;
        EXPECT_GT(doubtful, text.find("lookup")) << text;
        act(*pane, Action::sort, model);
    }
}

TEST_F(Panes, AnotherSplitBeginsAtTheTopOfTheDifference) {
    auto pane = make_difference_pane({});
    settle(*pane, model);
    act(*pane, Action::last, model);
    EXPECT_NE(drawn(*pane, 120, 10).find(" of "), std::string::npos);
    SyntheticStream& stream = session.stream;
    const SpecId whole = stream.probe(4, "worker");
    stream.split(4, stream.fixed(5 * ms));
    std::vector<uint64_t> durations;
    for (uint64_t i = 0; i < 100; i++) {
        const uint64_t start = model.now_ns(), duration = i % 5 ? 2 * ms : 9 * ms;
        const CallKey call = stream.call(whole, start);
        stream.sample(start + ms, 101, session.path({i % 5 ? "parse" : "lookup"}), {call}, ms);
        stream.end(101, call, duration);
        durations.push_back(duration);
        model.on_time(start + duration);
    }
    stream.stats(model.now_ns(), whole, durations);
    settle(*pane, model);
    EXPECT_EQ(rows_filled(*pane, Fill::cursor, 120, 24), (std::vector<size_t>{3}));
}

TEST_F(Panes, TheHistogramIsOfAFunctionOnceSamplesAreSplitByIt) {
    auto pane = make_histogram_pane({});
    settle(*pane, model);
    EXPECT_EQ(pane->command(), "hist handle");
    act(*pane, Action::down, model); // another, by hand
    EXPECT_NE(pane->command(), "hist handle");
    const std::string chosen = pane->command();
    session.serve(100);
    settle(*pane, model);
    EXPECT_EQ(pane->command(), chosen);
    session.stream.split(3, session.stream.percentile(95));
    session.serve(100);
    settle(*pane, model);
    EXPECT_EQ(pane->command(), "hist \"ns::parse<int>\"");
}

// "std::function<>::operator()" is what the screen shows; the symbol has all its arguments.
TEST_F(Panes, SearchesFindWhatIsShown) {
    auto pane = make_table_pane({});
    settle(*pane, model);
    EXPECT_EQ(pane->search("^lookup$", model).find("no match"), std::string::npos);
    const auto found = pane->subject().function;
    ASSERT_TRUE(found);
    EXPECT_EQ(model.symbols().name(*found), "lookup(Request const&)");
}

TEST_F(Panes, CallsAreThoseOfTheScope) {
    auto pane = make_calls_pane({});
    scope.filter = CallClass::fast;
    settle(*pane, model, scope);
    EXPECT_NE(drawn(*pane, 80, 12).find("No such slow call"), std::string::npos);
    EXPECT_EQ(pane->command(), "calls fast");
    scope.filter = CallClass::slow;
    settle(*pane, model, scope);
    EXPECT_NE(drawn(*pane, 80, 12).find("20 slow calls"), std::string::npos);
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
