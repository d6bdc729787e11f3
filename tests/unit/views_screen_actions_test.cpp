// SPDX-License-Identifier: GPL-3.0-or-later
// What keys ask for: console commands with names that the language reads back, and steps back.
#include "tests/unit/screen_fixture.h"
#include "views/model/fold.h"
#include "views/model/frames_under.h"
#include "views/screen/drill.h"
#include "views/screen/site_list.h"
#include "views/text/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

class ScreenActions : public testing::Test, public ScreenFixture {
  protected:
    // The cursor on a frame, by search.
    void go_to(const std::string& expression) {
        press('/');
        type(expression);
        press(Key::Code::enter);
        press(Key::Code::escape); // the search ends, the cursor stays
    }
    std::string bottom() {
        const std::string text = drawn(100, 30);
        return text.substr(text.rfind('\n', text.size() - 2) + 1);
    }
    bool leaves(const std::vector<Request>& requests) {
        return requests.size() == 1 && requests[0].kind == Request::Kind::leave;
    }
};

TEST_F(ScreenActions, DrillAtTheFunctionUnderTheCursor) {
    serve(1, 500);
    refresh();
    EXPECT_EQ(press('t').size(), 0u); // at the root there is none
    EXPECT_THAT(bottom(), HasSubstr("no function"));
    go_to("^handle$");
    EXPECT_EQ(command_of('t'), "time handle");
    EXPECT_EQ(command_of('s'), "split handle > p95");
    EXPECT_EQ(command_of('S'), "slow handle > p99");
    EXPECT_EQ(command_of('o'), "only in handle");
    EXPECT_EQ(command_of('@'), "sites handle");
    EXPECT_EQ(press('O').size(), 0u);
    EXPECT_THAT(bottom(), HasSubstr("not timed: t times it"));
    EXPECT_EQ(command_of('u'), "undo");
    go_to("lookup");
    EXPECT_EQ(command_of('t'), "time \"lookup(Request const&, std::basic_string_view<char, "
                               "std::char_traits<char> >)\"");
    go_to("full_scan");
    EXPECT_EQ(command_of('t'), "time \"full_scan\\x1b[2J(std::vector<int>&)\"");
    go_to("tcp_sendmsg"); // of the kernel: the function that called it is meant
    EXPECT_EQ(command_of('t'), "time send");
    EXPECT_EQ(command_of('@'), "sites send");
    stream.sample(5'000 * ms, 101, stream.stack({"_start", "service+0x1f"}), {}, 1'001'001);
    refresh();
    go_to("0x1f");
    EXPECT_EQ(press('t').size(), 0u);
    EXPECT_THAT(bottom(), HasSubstr("service+0x1f has no name, or none yet"));
}

TEST_F(ScreenActions, KnowWhatIsTimedAndSplit) {
    time_handle();
    serve(1, 500);
    refresh();
    EXPECT_EQ(press(']').size(), 0u);
    EXPECT_THAT(bottom(), HasSubstr("no split"));
    go_to("^handle$");
    EXPECT_EQ(command_of('d'), "delete handle");
    EXPECT_EQ(command_of('O'), "open handle");
    split_handle();
    EXPECT_EQ(command_of('S'), "slow handle > p95"); // the calls that the split calls slow
    EXPECT_EQ(command_of(']'), "threshold handle p98");
    EXPECT_EQ(command_of('['), "threshold handle p90");
    stream.split(1, stream.fixed(5 * ms));
    EXPECT_EQ(command_of(']'), "threshold handle 6.3ms");
    EXPECT_EQ(command_of('['), "threshold handle 4ms");
    stream.split(1, stream.fixed(1 * ms));
    EXPECT_EQ(command_of('['), "threshold handle 800us");
    stream.split(1, stream.fixed(1'234'567));
    EXPECT_EQ(command_of(']'), "threshold handle 1.25ms");
    model.on_only({"in handle", {}, {}, {}, {}});
    EXPECT_EQ(command_of('o'), "only off");
}

TEST(ScreenDrill, ThresholdsGoUpAndDownTheSameSteps) {
    Model model;
    SyntheticStream stream(model);
    stream.probe(1, "ns::f(int, char)");
    uint64_t ns = 1;
    for (uint64_t steps = 0; ns < 100'000'000'000; steps++) {
        ASSERT_LT(steps, 200u);
        stream.split(1, stream.fixed(ns));
        const std::string up = drill_command(Action::threshold_up, model, {}, {}).command;
        ASSERT_TRUE(up.starts_with("threshold \"ns::f(int, char)\" ")) << up;
        const std::string text = up.substr(up.rfind(' ') + 1);
        const double number = std::stod(text);
        const uint64_t unit = text.ends_with("ns")   ? 1
                              : text.ends_with("us") ? 1'000
                              : text.ends_with("ms") ? 1'000'000
                                                     : 1'000'000'000;
        const auto next = static_cast<uint64_t>(number * static_cast<double>(unit) + 0.5);
        ASSERT_GT(next, ns);
        ASSERT_LE(next, std::max<uint64_t>(100, ns * 13 / 10)) << ns;
        ns = next;
    }
    for (double p : {50.0, 95.0, 99.9, 99.99}) {
        stream.split(1, stream.percentile(p));
        const Drill up = drill_command(Action::threshold_up, model, {}, {});
        EXPECT_NE(up.command.empty(), up.why_not.empty());
        EXPECT_EQ(up.command.empty(), p == 99.99);
    }
}

// 10,000 calls of 3 us, 200 of 1 ms, 20 of 148 ms; a sample costs 12.5 us, so that durations can be
// seen from 25 us on.
TEST(ScreenDrill, GoesToWhereDurationsPartAsFarAsCanBeSeen) {
    constexpr uint64_t ms = 1'000'000;
    Model model;
    SyntheticStream stream(model);
    const SpecId handle = stream.probe(1, "handle");
    std::vector<uint64_t> durations(10'000, 3'000);
    durations.insert(durations.end(), 200, 1 * ms);
    durations.insert(durations.end(), 20, 148 * ms);
    stream.stats(ms, handle, durations);
    stream.ledger(2 * ms);
    auto threshold = [&](const std::string& command, const std::string& begin) {
        EXPECT_TRUE(command.starts_with(begin)) << command;
        const std::string text = command.substr(std::min(begin.size(), command.size()));
        return std::stod(text) * (text.ends_with("us") ? 1e3 : 1e6);
    };
    // What is not said is chosen so that it can be seen: p95 would be 3 us.
    const double first =
        threshold(drill_at_probe(Action::split_on_it, model, "handle").command, "split handle > ");
    EXPECT_GT(first, 25e3);
    EXPECT_LT(first, 1e6);

    stream.split(1, stream.fixed(6'000)); // by hand
    EXPECT_TRUE(model.split_near_sample_gap());
    EXPECT_THAT(unseen_split_text(model), HasSubstr("threshold handle "));
    const auto gap = [&](Action action) {
        return threshold(drill_command(action, model, {}, {}).command, "threshold handle ");
    };
    EXPECT_EQ(gap(Action::gap_up), first);
    stream.split(1, stream.fixed(static_cast<uint64_t>(first)));
    const double second = gap(Action::gap_up);
    EXPECT_GT(second, 1e6);
    EXPECT_LT(second, 148e6);
    stream.split(1, stream.fixed(static_cast<uint64_t>(second)));
    EXPECT_EQ(gap(Action::gap_down), first);
    EXPECT_THAT(drill_command(Action::gap_up, model, {}, {}).why_not, HasSubstr("no gap"));
}

// A sample costs 12.5 us, so by 6 us calls are slow for having been sampled: the screen says so,
// and how to come to a threshold that can be seen; by one that can be it says nothing.
TEST_F(ScreenActions, AThresholdThatSamplesCannotSeeIsToldOfOnTheScreen) {
    time_handle();
    serve(1, 500);
    const auto shown = [&](uint64_t threshold_ns) {
        stream.split(1, stream.fixed(threshold_ns));
        press('1');
        refresh();
        const std::string flame = drawn(140, 30);
        press('2');
        refresh();
        return std::pair(flame, drawn(140, 30));
    };
    const auto warning = HasSubstr("threshold too short for samples");
    const auto step = HasSubstr(key_name(Action::gap_up) + " to a threshold that samples can see");
    const auto why =
        HasSubstr("The threshold is under twice what a sample costs its thread (12.5 us)");
    const auto [flame, difference] = shown(6 * us);
    EXPECT_THAT(flame, testing::AllOf(HasSubstr("handle > 6.00 us"), warning, step, Not(why)));
    EXPECT_THAT(difference, testing::AllOf(warning, step, why));
    const auto [clear_flame, clear_difference] = shown(25 * us);
    EXPECT_THAT(clear_flame,
                testing::AllOf(HasSubstr("handle > 25.0 us"), Not(warning), Not(step)));
    EXPECT_THAT(clear_difference, testing::AllOf(Not(warning), Not(step), Not(why)));
}

TEST_F(ScreenActions, EscapeStepsBackAndAtTheEndLeaves) {
    time_handle();
    split_handle();
    serve(1, 500);
    refresh();
    for (int i = 0; i < 5; i++)
        press('j');
    press(Key::Code::enter);
    EXPECT_THAT(drawn(100, 30), HasSubstr("flame under handle"));
    press('c');
    refresh();
    EXPECT_THAT(drawn(100, 30), HasSubstr("flame slow under handle"));
    press('/');
    type("send");
    press(Key::Code::enter);
    EXPECT_TRUE(press(Key::Code::escape).empty()); // the search
    EXPECT_TRUE(press(Key::Code::escape).empty()); // the zoom
    EXPECT_THAT(bottom(), HasSubstr("> flame slow\n"));
    EXPECT_TRUE(press(Key::Code::escape).empty()); // the class
    refresh();
    EXPECT_THAT(bottom(), HasSubstr("> flame\n"));
    EXPECT_EQ(press(Key::Code::escape).size(), 0u); // one too many does not leave
    EXPECT_THAT(bottom(), HasSubstr("q goes to the prompt"));
    EXPECT_TRUE(leaves(press('q')));
}

// What the screen shows and what its command prints are the same samples.
TEST_F(ScreenActions, AZoomIsACommandForTheSameFrames) {
    const StackId parse = stream.stack({"_start", "parse", "recv", "recv", "wait"}),
                  fetch = stream.stack({"_start", "fetch", "recv", "wait"});
    for (uint64_t i = 1; i <= 8; i++)
        stream.sample(i * ms, 101, i <= 3 ? parse : fetch, {}, 1'001'001);
    model.on_time(10 * ms);
    refresh();
    go_to("^recv$"); // the heaviest
    press(Key::Code::enter);
    refresh();
    EXPECT_THAT(bottom(), HasSubstr("> flame under \"fetch;recv\"\n"));
    const auto samples = [&](const std::string& under) {
        return fold(model, {}, {}, GroupBy::process, under).total().samples;
    };
    EXPECT_EQ(samples("fetch;recv"), 5);
    EXPECT_EQ(samples("parse;recv;wait"), 3); // direct recursion is one frame
    EXPECT_EQ(samples("recv"), 8);
    EXPECT_EQ(samples("fetch;wait"), 0);
    const FlameTree tree = fold(model, {});
    const std::string label = FramesUnder::name_in_path(tree.labels[0]);
    EXPECT_EQ(samples(label + ";_start;parse"), 3);
    EXPECT_EQ(samples(label + ";parse"), 0);
    press(Key::Code::escape);
    refresh();
    EXPECT_THAT(bottom(), HasSubstr("> flame\n"));
}

TEST_F(ScreenActions, AClassThatIsNoMoreIsNotShown) {
    time_handle();
    split_handle();
    serve(1, 500);
    refresh();
    press('c');
    refresh();
    EXPECT_THAT(bottom(), HasSubstr("> flame slow"));
    model.on_split({});
    refresh();
    EXPECT_THAT(bottom(), HasSubstr("> flame\n"));
}

TEST_F(ScreenActions, AnswersStandWhereTheyFit) {
    serve(1, 100);
    refresh();
    press(':');
    type("time handle");
    const auto requests = press(Key::Code::enter);
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].line, "time handle");
    screen.answer({"time handle", "timing handle (probe 1)\n", false});
    EXPECT_THAT(bottom(), HasSubstr("time handle → timing handle (probe 1)"));
    screen.notice("somebody came");
    EXPECT_THAT(bottom(), Not(HasSubstr("somebody")));
    std::string list;
    for (int i = 1; i <= 60; i++)
        list += "line " + std::to_string(i) + "\n";
    screen.answer({"help", list, false});
    EXPECT_THAT(drawn(100, 30), HasSubstr("line 20"));
    press('G');
    EXPECT_THAT(drawn(100, 30), HasSubstr("> line 60"));
    press('/');
    type("line 7");
    press(Key::Code::enter);
    EXPECT_THAT(drawn(100, 30), HasSubstr("> line 7"));
    press(Key::Code::escape);
    EXPECT_THAT(drawn(100, 30), HasSubstr("line 7"));
    press(Key::Code::escape);
    EXPECT_THAT(drawn(100, 30), Not(HasSubstr("line 7")));
    // What was typed comes back.
    press(':');
    press(Key::Code::up);
    EXPECT_THAT(bottom(), HasSubstr(":time handle"));
}

TEST_F(ScreenActions, CallSitesAreChosenAndTimed) {
    serve(1, 100);
    refresh();
    go_to("^recv$");
    EXPECT_EQ(command_of('@'), "sites recv");
    screen.answer({"sites recv",
                   "2 call sites of recv\n"
                   "       calls       p50       p99  place         caller\n"
                   "      13,722   43.4 us   2.74 ms  main.cc:1312  handle  (entry+ret)\n"
                   "           -         -         -  my file.c:7   fetch  (entry+ret)\n"
                   "           -         -         -  service+0x1f  fetch  (entry+ret)\n"
                   "  \"time recv@*\" counts and times them all\n",
                   false});
    EXPECT_THAT(drawn(100, 30),
                HasSubstr("S traces slow calls from this line  Enter times them all"));
    auto requests = press(Key::Code::enter);
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].line, "time recv@main.cc:1312");

    std::vector<PagerLine> lines =
        Pager::lines_of("x\n       calls       p50       p99  place         caller\n"
                        "           -         -         -  my file.c:7   fetch  (entry+ret)\n"
                        "           -         -         -  service+0x1f  fetch  (entry+ret)\n");
    mark_sites(lines, "recv");
    EXPECT_EQ(lines[2].probe, "recv@my file.c:7");
    EXPECT_EQ(lines[3].probe, "");
}

TEST_F(ScreenActions, AFrozenScreenStaysWhileDataComes) {
    serve(1, 500);
    refresh();
    // All but the time strip, which goes on.
    const auto shown = [this] {
        const std::string text = drawn(100, 30);
        return text.substr(0, text.find("\ntotal "));
    };
    press('z');
    refresh();
    const std::string before = shown();
    EXPECT_THAT(before, HasSubstr("FROZEN"));
    serve(501, 900);
    refresh();
    EXPECT_EQ(shown(), before);
    // What was collected until then can still be looked at in other ways.
    press('b');
    refresh();
    EXPECT_THAT(drawn(100, 30), HasSubstr("728 samples"));
    press('z');
    refresh();
    EXPECT_THAT(drawn(100, 30), Not(HasSubstr("FROZEN")));
    EXPECT_THAT(drawn(100, 30), Not(HasSubstr("728 samples")));
}

TEST_F(ScreenActions, HintsLeadToTheNextStep) {
    state.rate_hz = 0;
    refresh();
    EXPECT_THAT(drawn(100, 30), HasSubstr(": sample wall 999, Enter"));
    state.rate_hz = 999;
    serve(1, 500);
    refresh();
    EXPECT_THAT(drawn(100, 30), HasSubstr("t then times it"));
    go_to("^handle$");
    EXPECT_THAT(drawn(100, 30), HasSubstr("t times the function under the cursor"));
    time_handle();
    EXPECT_THAT(drawn(100, 30), HasSubstr("s splits by its p95"));
    split_handle();
    EXPECT_THAT(drawn(100, 30), HasSubstr("2 shows what slow calls do differently"));
    serve(501, 1200);
    press('2');
    refresh();
    press('j');
    EXPECT_THAT(drawn(100, 30), HasSubstr("S traces slow calls of this function"));
    stream.probe(2, "libc:recv", stream.fixed(5 * ms));
    EXPECT_THAT(drawn(100, 30), HasSubstr("4 lists the slow calls"));
}

TEST_F(ScreenActions, SourceShowsWhereTheSamplesAre) {
    Screen reader(model, {.unicode = true, .read_source = [](const std::string& path) {
                              std::string text;
                              for (int i = 1; i <= 40; i++)
                                  text += "\tcode of " + path + "\x1b[2J;\r\n";
                              return Result<std::string>(text);
                          }});
    serve(1, 100);
    for (int i = 0; i < 100 && reader.refresh(state, TimeSlice::endless()); i++) {
    }
    for (int i = 0; i < 5; i++)
        reader.press({.code = Key::Code::down});
    reader.press({.code = Key::Code::character, .character = 'a'});
    const std::string text = to_text(reader.draw(100, 30));
    EXPECT_THAT(text, HasSubstr("100.0 %"));
    EXPECT_THAT(text, HasSubstr("code of"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    refresh();
    go_to("^handle$");
    press('a');
    EXPECT_THAT(bottom(), HasSubstr("cannot be read"));
}

} // namespace
} // namespace auger
