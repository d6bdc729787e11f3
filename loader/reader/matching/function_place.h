// SPDX-License-Identifier: GPL-3.0-or-later
// From a function that was found to places in it that can be probed without harm: its code is read,
// with the parts that the compiler moved away, and analysed.
#pragma once

#include "loader/reader/elf/function_index.h"
#include "loader/reader/matching/probe_match.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

namespace auger {

struct FunctionCandidate {
    size_t module;
    const FunctionIndex::Function* function;
    std::string_view symbol; // the name that matched
};

using PlaceOutcome = std::variant<PlaceMatch, SkippedPlace>;

// The function's calls: entry place and exits.
PlaceOutcome place_function(const FunctionCandidate& candidate, const ProbeModule& module);
// The same by its own code only: what it jumps to is not looked at.
PlaceOutcome place_code(const FunctionCandidate& candidate, const ProbeModule& module);
// One instruction in it, `offset` bytes from its start.
PlaceOutcome place_instruction(const FunctionCandidate& candidate, const ProbeModule& module,
                               uint64_t offset, PlaceKind kind);

} // namespace auger
