// SPDX-License-Identifier: GPL-3.0-or-later
// A function that has no name: of stripped files all that is not exported.
#pragma once

#include "loader/reader/elf/function_index.h"
#include "loader/reader/matching/probe_match.h"

#include <cstdint>
#include <optional>
#include <string>

namespace auger {

struct NamelessFunction {
    FunctionIndex::Function function{};
    std::string name; // as stacks show it: the file and where it begins
};

// The one that holds an address as linked, as call frame information tells.
std::optional<NamelessFunction> find_nameless(const ProbeModule& module, uint64_t address);

} // namespace auger
