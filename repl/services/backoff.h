// SPDX-License-Identifier: GPL-3.0-or-later
// Backoff: how long somebody who could not be served waits before the next attempt: twice as long
// each time, up to a limit, and at random, so that many who failed together do not come back
// together.
#pragma once

#include "loader/base/read_clock.h"

#include <algorithm>
#include <cstdint>
#include <random>

namespace auger {

class Backoff {
  public:
    static constexpr uint64_t first_ns = second_ns, longest_ns = 60 * second_ns;
    static constexpr uint64_t longest_asked_s = 3'600;

    explicit Backoff(uint32_t seed) : random_(seed) {}

    // After another failure. `asked_s`: what the server asks to wait, which holds, within reason.
    uint64_t next_ns(uint64_t asked_s) {
        const uint64_t most = step_ns_;
        step_ns_ = std::min(2 * step_ns_, longest_ns);
        return std::max(std::min(asked_s, longest_asked_s) * second_ns,
                        std::uniform_int_distribution<uint64_t>(most / 2, most)(random_));
    }
    void reset() { step_ns_ = first_ns; }

  private:
    std::minstd_rand random_;
    uint64_t step_ns_ = first_ns;
};

} // namespace auger
