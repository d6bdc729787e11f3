// SPDX-License-Identifier: GPL-3.0-or-later
// EventRate: whether something happens often. What is told in two ways may be told out of order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace auger {

class EventRate {
  public:
    void add(uint64_t time_ns) {
        times_[next_] = time_ns;
        next_ = (next_ + 1) % times_.size();
    }
    // Ten times within the second before `now_ns`.
    bool often(uint64_t now_ns) const {
        const uint64_t oldest = times_[next_];
        return oldest != 0 && now_ns < oldest + window_ns;
    }

  private:
    static constexpr uint64_t window_ns = 1'000'000'000;

    std::array<uint64_t, 10> times_{}; // the latest; 0: none yet
    size_t next_ = 0;
};

} // namespace auger
