// SPDX-License-Identifier: GPL-3.0-or-later
// find_places: from a pattern to places in the modules of a target. The main program is searched
// first and libraries only when it has no match (or one is named). The code around each place is
// decoded, so a match is something that can be probed without harm; what cannot is skipped with its
// reason.
#pragma once

#include "loader/base/result.h"
#include "loader/probes/place_match.h"
#include "loader/probes/probe_pattern.h"
#include "loader/reader/matching/module_debug.h"
#include "loader/reader/matching/module_index.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct ProbeModule {
    ModuleIndex index; // holds the ElfFile
    std::string path;  // as in the target's mappings; for names only
    bool main_program;
    std::shared_ptr<ModuleDebug> debug{}; // null: nothing is known about lines
    // False: nothing is probed in it. It tells what others call.
    bool searched = true;
    // The path that the pattern gives for a library leads to it, as do others.
    bool named = false;
};

// Whether the module is the library that the user's text means.
bool is_library(std::string_view wanted, const ProbeModule& module);

// Fails when nothing matches: with near matches, or the count of inlined copies, in the hint. What
// matches may all have been skipped. `absent` becomes true when the pattern speaks of nothing that
// these modules have, so that others might; false when they decide (too many match, a line of
// theirs has no code).
Result<ProbeMatches> find_places(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                 const MatchOptions& options, bool& absent);
// The same, but it also fails when all was skipped.
Result<ProbeMatches> match_probe(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                 const MatchOptions& options = {});

// Names (demangled, without arguments) that the user may have meant, best first.
std::vector<std::string> near_matches(const ProbePattern& pattern,
                                      std::span<const ProbeModule> modules, size_t limit = 5);

// Names (demangled, without arguments) that begin with the text, sorted: for completion.
std::vector<std::string> complete_function(std::string_view text,
                                           std::span<const ProbeModule> modules, size_t limit);

} // namespace auger
