// SPDX-License-Identifier: GPL-3.0-or-later
// When what a pane shows is found anew: at once when something else is asked for, otherwise so
// rarely that it costs a small share of the time however much was collected.
#pragma once

#include "views/screen/pane.h"

#include <string>

namespace auger {

// How many samples a pane looks at before it asks whether its time is over.
inline constexpr size_t samples_a_step = 20'000;

class Pace {
  public:
    explicit Pace(uint64_t least_ns = 200'000'000) : least_ns_(least_ns) {}

    // Asked at each refresh. `cost_ns`: about what it takes, for the share. When true, it is taken
    // as done now.
    bool due(const Model&, const Scope&, double cost_ns = 0);
    // Whether the last time it was due something else was asked for than before.
    bool other() const { return other_; }

  private:
    uint64_t least_ns_;
    Scope scope_;
    std::string question_;
    uint64_t now_ns_ = 0;
    uint64_t events_ = 0;
    uint32_t refreshes_ = 0;
    bool begun_ = false;
    bool other_ = false;
};

} // namespace auger
