// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites: the call instructions by which a function is called, from one line (`recv@main.cc:9`)
// or from anywhere (`recv@*`). The name of the callee decides, through the PLT and the GOT too. A
// call through a pointer on the line may be meant: it is a place with the functions to which it
// must go. A tail call has no such place: it is a match that says so.
#pragma once

#include "loader/reader/matching/probe_match.h"

#include <span>

namespace auger {

Result<ProbeMatches> match_call_sites(const ProbePattern& pattern,
                                      std::span<const ProbeModule> modules,
                                      const MatchOptions& options, bool& absent);

} // namespace auger
