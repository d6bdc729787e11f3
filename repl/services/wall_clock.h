// SPDX-License-Identifier: GPL-3.0-or-later
// WallClock: follows the machine's, which is set, or goes on while the machine sleeps (the clock of
// the stream, CLOCK_MONOTONIC, does not).
#pragma once

#include "loader/backend.h"
#include "views/model/model.h"

#include <cstdint>
#include <functional>
#include <utility>

namespace auger {

class WallClock {
  public:
    // What is less is a clock that is made to run faster or slower, which is not followed: times
    // that were told are to stay next to each other.
    static constexpr uint64_t least_step_ns = 1'000'000'000;

    // `utc_ns`: now, in ns since 1970.
    explicit WallClock(std::function<uint64_t()> utc_ns) : utc_ns_(std::move(utc_ns)) {}

    // To be called now and then.
    void follow(Model& model, const Backend& backend) const {
        // A recording's times are of another day.
        if (backend.replaying())
            return;
        const uint64_t now = backend.now_ns(), utc = utc_ns_();
        const auto known = model.wall_ns(now);
        if (!known || utc < now)
            return;
        const uint64_t step = utc > *known ? utc - *known : *known - utc;
        if (step >= least_step_ns)
            model.set_wall_clock(now, utc - now);
    }

  private:
    std::function<uint64_t()> utc_ns_;
};

} // namespace auger
