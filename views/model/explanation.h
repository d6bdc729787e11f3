// SPDX-License-Identifier: GPL-3.0-or-later
// Why the calls of a probe do not all take as long: what each of their parts has to do with that.
// Taken apart twice, by the functions whose own time it was, and by what the thread did; each time
// the parts add up to the duration of every call.
#pragma once

#include "views/model/model.h"
#include "views/model/variance_shares.h"

#include <string_view>
#include <vector>

namespace auger {

struct ExplainedPart {
    SpecId spec{}; // of a function
    // Else "cpu", "blocked", "runnable", "parked", "queued", "on a thread", "served or parked".
    std::string_view state{};
    bool rest = false; // what no part took: the explained function's own time
    double calls = 0;  // of the function in one of the explained calls, on average
    PartShare share;
};

struct Explanation {
    std::vector<ExplainedPart> functions; // largest share of the variance first, the rest last
    std::vector<ExplainedPart> states; // likewise; empty: nothing is known of what the thread did
    size_t calls = 0;                  // that it stands on
    size_t state_calls = 0;            // of those the ones of which the states are known
    double stands_for = 0;             // calls, told or not
    double mean_ns = 0, deviation_ns = 0, p95_ns = 0;
    size_t slow_calls = 0;      // beyond that
    double effective_calls = 0; // see VarianceShares
    // Left out, since the end of a call inside was not seen.
    size_t incomplete = 0;
    double incomplete_mean_ns = 0;
    // What the probes of the parts take of a call, about, as far as that is measured.
    double probing_ns = 0;
    SpecId dearest{};     // the part whose probes take most of that
    uint64_t from_ns = 0; // begin of the first; when its parts became what they are
    bool of_span = false;
    // Else goroutines or tasks worked for spans of which it is not known when they were parked.
    bool is_park_known = true;
};

// Shares of `whole` in tenths of a percent, so rounded that they add up to 1,000.
std::vector<int64_t> rounded_shares(const std::vector<double>& shares, double whole);

// Fewer calls, or effective ones, say little: a share of the variance may be anything.
inline constexpr size_t least_explained_calls = 100;
inline constexpr double least_effective_calls = 5;

// An ewma window counts as everything: calls do not fade.
Explanation explain_calls(const Model&, const Window&, ProbeId);

} // namespace auger
