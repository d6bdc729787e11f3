// SPDX-License-Identifier: GPL-3.0-or-later
// find_loops: which instructions of a function may be executed again before it is left.
#pragma once

#include "loader/reader/code/decoder.h"

#include <span>
#include <vector>

namespace auger {

// By index in `code` (ascending). What a jump through a register leads to is not followed, and
// calls come back.
std::vector<bool> find_loops(std::span<const Instruction> code);

} // namespace auger
