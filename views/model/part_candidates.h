// SPDX-License-Identifier: GPL-3.0-or-later
// Functions within a probe's calls that are worth timing to explain why those differ, found in
// samples.
//
// A sample of weight w in a call that took d, with a function on its stack, adds w (d - mean) to a
// sum. Samples come at random moments, so the weight that a function has in a call is on average
// the time that the call spends in it, and the sum, over the number of all calls, is on average the
// covariance of that time with the duration: unsampled calls, which are short, are in it with the
// zero that they are expected to have beyond their share. So what is picked is what explains most
// of the variance as far as samples tell, and after that what takes most of the duration.
#pragma once

#include "views/model/model.h"

#include <cstddef>
#include <string>
#include <vector>

namespace auger {

struct PartCandidate {
    FunctionId function; // as found
    std::string probe;   // as `time` takes it; empty: its name would mean something else there
    double variance = 0; // share of the variance that is its own and not its callees', estimated
    double duration = 0; // likewise, of the duration
};

struct PartCandidates {
    std::vector<PartCandidate> functions; // the best first
    uint64_t samples = 0;                 // in calls of the probe that have ended
    uint64_t calls = 0;                   // that hold them
};

inline constexpr uint64_t least_samples_to_pick = 100;

// Those that can be timed and are not yet; at most `most`.
PartCandidates part_candidates(const Model&, ProbeId, size_t most);

} // namespace auger
