// SPDX-License-Identifier: GPL-3.0-or-later
// Where the calls of a function end that leaves by jumps to others only (tail calls): at the ends
// of those, with the stack pointer as it was when the function began.
#pragma once

#include "loader/probes/place_match.h"
#include "loader/reader/matching/probe_match.h"

#include <vector>

namespace auger {

// Empty where that is not all known: it comes back by itself, too, or jumps by a pointer, into
// another file, or through too many functions; or its first instruction is the jump.
std::vector<ExitPlace> find_tail_ends(const PlaceMatch& function, const ProbeModule& module);

} // namespace auger
