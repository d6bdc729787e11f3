// SPDX-License-Identifier: GPL-3.0-or-later
// However much is left to do, the screen looks up when its slice of time is over: whoever waits for
// an answer to a key waits for no more than that.
#include "tests/unit/screen_fixture.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

// A clock that goes on by a millisecond whenever somebody looks at it: so much a step takes.
class Slices : public testing::Test, protected ScreenFixture {
  protected:
    Slices() {
        time_handle();
        split_handle();
        serve(1, 8000);
        refresh();
    }
    bool refresh_for(uint64_t milliseconds) {
        return screen.refresh(
            state, TimeSlice([this] { return now_ms_++; }, std::chrono::nanoseconds(milliseconds)));
    }
    uint64_t steps_of(uint64_t milliseconds) {
        const uint64_t before = now_ms_;
        left_ = refresh_for(milliseconds);
        return now_ms_ - before;
    }

    bool left_ = false;

  private:
    uint64_t now_ms_ = 0;
};

TEST_F(Slices, EndTheWorkOfEveryPane) {
    // Each pane in front, and the flame and the strip beside it, have everything to do anew.
    for (char pane : {'1', '2', '5', '6'}) {
        press(pane);
        press('c'); // another class
        for (uint64_t slice : {3, 1, 2}) {
            // One step more than there is time for, in each of the three, and the slice's
            // beginning.
            EXPECT_LE(steps_of(slice), slice + 4) << pane;
        }
        refresh();
        EXPECT_FALSE(refresh_for(1)) << pane;
    }
}

TEST_F(Slices, MuchWorkTakesManyAndAKeyMayComeBetween) {
    press('c');
    size_t slices = 0;
    for (; refresh_for(1) && slices < 1000; slices++) {
        press('j');
        drawn(80, 24);
    }
    EXPECT_GE(slices, 2u);
    EXPECT_LT(slices, 1000u);
}

} // namespace
} // namespace auger
