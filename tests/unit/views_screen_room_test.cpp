// SPDX-License-Identifier: GPL-3.0-or-later
// Where there is little room: what is left out is marked, and what matters is not left out.
#include "tests/unit/screen_fixture.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

class ScreenRoom : public ScreenFixture, public testing::Test {};

TEST_F(ScreenRoom, RowsOfTheFlameThatAreNotShownAreCounted) {
    std::vector<std::string> path = {"main"};
    for (int i = 0; i < 30; i++)
        path.push_back("level_" + std::to_string(i));
    stream.sample(ms, 1, stream.stack(path));
    model.on_time(2 * ms);
    refresh();
    // 33 rows with "all" and the process; status, tabs, two of details, three of the time strip,
    // hints and the command line take nine of 26.
    EXPECT_THAT(drawn(80, 26), HasSubstr("▼ 16 more rows"));
    EXPECT_THAT(drawn(80, 26), Not(HasSubstr("▲")));
    press('G');
    EXPECT_THAT(drawn(80, 26), HasSubstr("▲ 16 more rows"));
    EXPECT_THAT(drawn(80, 26), Not(HasSubstr("▼")));
    press('i');
    EXPECT_THAT(drawn(80, 26), HasSubstr("▼ 16 more rows"));
    EXPECT_THAT(drawn(80, 60), Not(HasSubstr("more row")));
}

// A name that is cut in its row stands below the list whole.
TEST_F(ScreenRoom, TheNameUnderTheCursorIsWhole) {
    const std::string name =
        "v8::internal::interpreter::Dispatcher<v8::internal::Isolate>::Run(int, char const*)";
    for (uint64_t i = 1; i <= 10; i++)
        stream.sample(i * ms, 1, stream.stack({"main", name}));
    model.on_time(20 * ms);
    press('5');
    refresh();
    EXPECT_THAT(drawn(100, 24), HasSubstr(name + "  service"));
    EXPECT_THAT(drawn(50, 24), HasSubstr("…interpreter::Dispatcher<>::Run"));
}

TEST_F(ScreenRoom, AnswersThatAreLongerThanTheScreenIsWideAreBroken) {
    refresh();
    const std::string last = "the-last-word";
    std::string answer;
    for (int i = 0; i < 20; i++)
        answer += "a sentence ";
    screen.answer({"time handle", answer + last, false});
    EXPECT_THAT(drawn(80, 24), HasSubstr(last));
    EXPECT_THAT(drawn(40, 24), HasSubstr(last));
    screen.answer({"time handle", "timed", false});
    EXPECT_THAT(drawn(80, 24), HasSubstr("time handle → timed"));
}

TEST_F(ScreenRoom, WhatGoesOnToTheRightIsMarked) {
    refresh();
    std::string lines;
    for (int i = 0; i < 20; i++)
        lines += std::string(60, 'x') + "\n";
    screen.answer({"help", lines, false});
    EXPECT_THAT(drawn(40, 24), HasSubstr("xx>\n"));
    EXPECT_THAT(drawn(80, 24), Not(HasSubstr("xx>\n")));
}

TEST_F(ScreenRoom, ThreadsAreOfTheClassThatIsShown) {
    time_handle();
    split_handle();
    serve(1, 500);
    press('6');
    press('c');
    refresh();
    EXPECT_THAT(drawn(100, 30), HasSubstr("> threads slow\n"));
    press('r');
    refresh();
    EXPECT_THAT(drawn(100, 30), HasSubstr("> threads\n"));
}

} // namespace
} // namespace auger
