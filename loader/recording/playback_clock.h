// SPDX-License-Identifier: GPL-3.0-or-later
// PlaybackClock: how much of a recording's time is due, when it is played at a speed. Time in which
// nobody asks (auger was suspended, a command ran) does not pass for the recording, but for a
// second.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace auger {

class PlaybackClock {
  public:
    using Time = std::chrono::steady_clock::time_point;

    // `speed`: seconds of the recording in a second.
    PlaybackClock(double speed, Time now) : speed_(speed), last_(now) {}

    // Recorded time that is due, at most `limit`; it is taken as played.
    uint64_t take(Time now, uint64_t limit) {
        constexpr std::chrono::nanoseconds most = std::chrono::seconds(1);
        last_ = std::max(last_, now - most);
        const double due = static_cast<double>((now - last_).count()) * speed_;
        if (due < static_cast<double>(limit)) {
            last_ = now;
            return static_cast<uint64_t>(due);
        }
        last_ +=
            std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(limit) / speed_));
        return limit;
    }

  private:
    double speed_;
    Time last_; // up to here everything was played
};

} // namespace auger
