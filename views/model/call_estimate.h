// SPDX-License-Identifier: GPL-3.0-or-later
// How many calls are of a class that the kernel does not count. Only calls that hold a sample are
// known singly, and long calls hold one more often. So calls are estimated duration by duration:
// among calls that took about as long, the sampled ones stand for the others, whose number the
// histogram has.
#pragma once

#include "loader/stats/histogram.h"

#include <array>
#include <cstdint>
#include <vector>

namespace auger {

class CallEstimate {
  public:
    // A returned call that holds a sample; of side 0 or 1, or of neither (-1).
    void add(uint64_t duration_ns, int side);
    // Calls of either side among those of the histogram. Durations up to the boundary do not stand
    // for those above.
    std::array<double, 2> calls(const WeightedHistogram& durations, uint64_t boundary_ns) const;

  private:
    struct Sampled {
        double all = 0;
        std::array<double, 2> of_side{};
    };
    std::vector<Sampled> sampled_; // by bucket
};

} // namespace auger
