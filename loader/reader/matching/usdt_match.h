// SPDX-License-Identifier: GPL-3.0-or-later
// From `usdt:PROVIDER:NAME` to the sites that files have of such probes: part of probe_match.h.
#pragma once

#include "loader/reader/matching/probe_match.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// See find_places(). They are looked for in all files, or in those that the pattern names.
Result<ProbeMatches> match_usdt(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                const MatchOptions& options, bool& absent);

// "usdt:PROVIDER:NAME" for those that begin with the text, sorted; with the library where the text
// has one.
std::vector<std::string> complete_usdt(std::string_view text, std::span<const ProbeModule> modules,
                                       size_t limit);

} // namespace auger
