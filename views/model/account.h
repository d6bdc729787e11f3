// SPDX-License-Identifier: GPL-3.0-or-later
// The account of what was seen, with its checks: what comes in equals what is kept plus what is
// known to be lost, or the check says so.
#pragma once

#include "views/model/model.h"

namespace auger {

struct Account {
    // Samples: ticks = sent + filtered + gated + lost; sent + wait_samples = received + on the way;
    // received = kept + evicted; kept = the four classes.
    uint64_t ticks = 0;
    uint64_t sent = 0;
    uint64_t filtered = 0;
    uint64_t gated = 0; // kept back by `only`, or between the samples of a raised rate
    uint64_t lost_samples = 0;
    uint64_t wait_samples = 0; // sent, beside those of ticks
    uint64_t received = 0;
    uint64_t kept = 0;
    uint64_t evicted = 0;
    ClassSums classes;
    uint64_t left_out = 0; // of the kept ones, which no view shows: see Classifier::kept
    bool ticks_add_up = false;
    bool samples_add_up = false;

    // Calls: entries = returns + unwound + open + dropped + filtered + expired.
    CallStatistics calls;
    bool calls_add_up = false;
    // Samples in calls that count as open although nothing will end them any more: their thread has
    // since been sampled outside of them. Happens when the end of a call was lost.
    uint64_t samples_in_lost_ends = 0;
};

Account make_account(const Model&);

} // namespace auger
