// SPDX-License-Identifier: GPL-3.0-or-later
// Panes that are lists of functions or calls, and the histogram: what they show of what is asked,
// and that they stay where the user is.
#include "tests/unit/panes_fixture.h"
#include "views/screen/calls_pane.h"
#include "views/screen/difference_pane.h"
#include "views/screen/histogram_pane.h"
#include "views/screen/table_pane.h"

#include <sstream>

namespace auger {
namespace {

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
    EXPECT_NE(text.find("stack of its longest wait:"), std::string::npos) << text;
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
    EXPECT_NE(text.find("heaviest stack of its 6 samples on the CPU:"), std::string::npos)
        << text;
    EXPECT_NE(text.find("scan_products"), std::string::npos) << text;
}

// Whatever may be chance comes behind all that is sure.
TEST_F(Panes, DifferencesThatAreSureComeFirst) {
    auto pane = make_difference_pane({});
    settle(*pane, model);
    for (int order = 0; order < 3; order++) {
        std::istringstream lines(drawn(*pane, 120, 60));
        size_t sure = 0, doubtful = 0;
        for (std::string line; std::getline(lines, line);) {
            if (line.find("\u00b1") == line.npos || line.find("95 %") != line.npos)
                continue; // no row
            const bool may_be_chance = line.find('?') != line.npos;
            doubtful += may_be_chance;
            sure += !may_be_chance;
            EXPECT_TRUE(may_be_chance || doubtful == 0) << line;
        }
        EXPECT_GT(sure, 3u);
        EXPECT_GT(doubtful, 0u);
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

} // namespace
} // namespace auger
