// SPDX-License-Identifier: GPL-3.0-or-later
// Brake: what is to be done when observing takes too much of the target's CPU time. It decides from
// one measured span at a time, and others carry it out. Pure.
//
// It only ever takes away. What it takes away is measured in a span that began afterwards before it
// goes on, so it cannot swing; to bring something back is for the user.
#pragma once

#include "loader/backend.h"
#include "repl/services/service_settings.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace auger {

struct BrakeAction {
    enum class Kind {
        warn,        // of a cause that takes much
        lower_rate,  // of sampling, to `rate_hz`
        lower_waits, // of sampling waits, likewise
        end_waits,   // they are no longer sampled
        take_off,    // the cause's probe
        end_lines,   // lines are no longer watched
    };
    Kind kind;
    Overhead::Cause cause;
    double percent = 0;   // of the target's CPU time, that the cause took
    uint32_t rate_hz = 0; // see above
    // Nothing takes too much, but samples come faster than they can be taken in.
    bool for_losses = false;
};

class Brake {
  public:
    // `sampling` is what is in force. A span that was judged already, or that began before the last
    // action was carried out, is passed over.
    std::vector<BrakeAction> judge(const Overhead& span, const OverheadLimit& limit,
                                   const SamplingSettings& sampling);
    // What judge() said has been done by then.
    void acted(uint64_t now_ns) { acted_ns_ = now_ns; }

  private:
    using CauseKey = std::pair<Overhead::Cause::Kind, ProbeId>;

    void reduce(std::vector<BrakeAction>& actions, const Overhead& span, double limit_ns,
                const SamplingSettings& sampling);
    void warn(std::vector<BrakeAction>& actions, const Overhead& span, const OverheadLimit& limit);

    uint64_t acted_ns_ = 0;
    uint64_t judged_ns_ = 0;              // end of the last span
    std::map<CauseKey, uint64_t> warned_; // when it last took as much
};

// In percent.
double overhead_percent(const Overhead& span, uint64_t cost_ns);

} // namespace auger
