// SPDX-License-Identifier: GPL-3.0-or-later
// ClockOffset: how another machine's CLOCK_MONOTONIC stands to ours, by pings. What an event's time
// is moved by must not change while calls are open, since a call is known by when it began: so it
// is measured first and fixed, and what has changed since counts as its error. Changes when clocks
// are to be compared in another way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace auger::remote {

class ClockOffset {
  public:
    static constexpr size_t pings_to_fix = 5; // the best of them counts

    // `agent_ns` was its clock at some moment between these two of ours.
    void add(uint64_t sent_ns, uint64_t agent_ns, uint64_t received_ns) {
        const uint64_t round_trip = received_ns - sent_ns;
        measured_[count_++ % measured_.size()] = {
            static_cast<int64_t>(sent_ns + round_trip / 2 - agent_ns), round_trip};
        if (count_ <= pings_to_fix)
            shift_ns_ = best().shift_ns;
    }
    bool fixed() const { return count_ >= pings_to_fix; }
    // To be added to its times.
    int64_t shift_ns() const { return shift_ns_; }
    // Its times are wrong here by no more, as far as the best of the last pings tells: the answer
    // may have come at once, or at last, and clocks drift.
    uint64_t error_ns() const {
        const Measured now = best();
        return now.round_trip_ns / 2 + distance(now);
    }
    // One of the two stood still, or was set: nothing drifts that far. Its events are no more of
    // the times that ours are of.
    bool has_jumped() const {
        const Measured now = best();
        return fixed() && distance(now) > now.round_trip_ns / 2 + jump_ns;
    }
    uint64_t round_trip_ns() const { return best().round_trip_ns; }

  private:
    static constexpr uint64_t jump_ns = 1'000'000'000;

    struct Measured {
        int64_t shift_ns = 0;
        uint64_t round_trip_ns = 0;
    };
    uint64_t distance(const Measured& now) const {
        const auto distance =
            static_cast<uint64_t>(now.shift_ns) - static_cast<uint64_t>(shift_ns_);
        return std::min(distance, uint64_t{0} - distance);
    }
    Measured best() const {
        const size_t known = std::min(count_, measured_.size());
        if (known == 0)
            return {};
        return *std::min_element(
            measured_.begin(), measured_.begin() + known,
            [](const Measured& a, const Measured& b) { return a.round_trip_ns < b.round_trip_ns; });
    }

    std::array<Measured, 8> measured_{}; // of late
    size_t count_ = 0;
    int64_t shift_ns_ = 0;
};

} // namespace auger::remote
