// SPDX-License-Identifier: GPL-3.0-or-later
// What stands beside the figures of functions that end by a jump to others: whether these are in
// their times.
#pragma once

#include "views/model/model.h"

#include <set>
#include <string>

namespace auger {

// Whether the times of a probe hold what its functions jump to at their ends.
struct Tail {
    enum class Timed { always, by_callers, never } timed = Timed::always;
    std::set<std::string> functions; // raw: what they jump to, where it is known
};
Tail tail_of(const Model&, const ProbeInfo&);
// That in some words, and in a sentence that says what to do; empty: they do.
std::string tail_text(const Model&, const ProbeInfo&);
std::string tail_advice(const Model&, const ProbeInfo&);

} // namespace auger
