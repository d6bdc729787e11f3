// SPDX-License-Identifier: GPL-3.0-or-later
// What user stacks are walked with. Changes when more is told of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace auger {

// Compiled call frame information, and what is missing of it.
struct UnwindStatus {
    size_t modules = 0;               // known
    uint64_t bytes = 0;               // of tables and lists of mappings
    std::vector<std::string> pending; // modules whose tables are not in place yet
    std::vector<std::string> notes;   // what is missing, and why
};

} // namespace auger
