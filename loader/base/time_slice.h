// SPDX-License-Identifier: GPL-3.0-or-later
// TimeSlice: how long somebody with much to do may work before others have their turn. Work goes on
// in small steps, and after each the slice is asked whether it is over; so however slow the machine
// is, what waits (a key) waits for a slice and one step. The clock is a parameter, as all time is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace auger {

class TimeSlice {
  public:
    using Clock = std::function<uint64_t()>; // ns, monotonic

    TimeSlice(Clock clock, std::chrono::nanoseconds length)
        : clock_(std::move(clock)), end_ns_(clock_() + static_cast<uint64_t>(length.count())) {}
    // Never over: all there is to do is done.
    static TimeSlice endless() { return TimeSlice(false); }
    // Over after any step.
    static TimeSlice one_step() { return TimeSlice(true); }

    bool over() const { return clock_ ? clock_() >= end_ns_ : at_once_; }

  private:
    explicit TimeSlice(bool at_once) : at_once_(at_once) {}

    Clock clock_;
    uint64_t end_ns_ = 0;
    bool at_once_ = false;
};

// Takes steps until there is nothing left to do or the slice is over; one at least. `step` returns
// whether something is left, and so does this.
template <typename Step>
bool work_in(const TimeSlice& slice, Step step) {
    while (step())
        if (slice.over())
            return true;
    return false;
}

} // namespace auger
