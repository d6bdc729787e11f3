// SPDX-License-Identifier: GPL-3.0-or-later
// What all who walk the tree of a compile unit agree on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace auger {

// Honest units stay far below these. A unit may be built to loop (siblings that lead backwards) or
// to nest without end.
inline constexpr size_t die_depth_limit = 256;
inline constexpr uint64_t die_limit = 20'000'000;

// Whether functions with code may be found within a DIE of this tag.
bool may_hold_functions(int tag);

} // namespace auger
