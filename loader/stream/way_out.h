// SPDX-License-Identifier: GPL-3.0-or-later
// SpecInfo::way_out of functions that end by jumps to others: what they jump to is timed with them
// where the call instructions are known that call them, or never.
#pragma once

namespace auger {

inline constexpr const char* way_out_by_callers = "ret, in callers";
inline constexpr const char* way_out_without_tail = "ret, without its tail";

} // namespace auger
