// SPDX-License-Identifier: GPL-3.0-or-later
// SpecInfo::way_out of functions that end by jumps to others: what they jump to is timed with them
// where the call instructions are known that call them, or never. Behind it, what they jump to, as
// far as it is known.
#pragma once

#include <string>
#include <string_view>

namespace auger {

inline constexpr std::string_view way_out_by_callers = "ret, in callers";
inline constexpr std::string_view way_out_without_tail = "ret, without its tail";
inline constexpr std::string_view way_out_jumps_to = "; jumps to ";

// `targets`: names, separated by commas; empty: not known.
inline std::string way_out_with(std::string_view way_out, const std::string& targets) {
    std::string text(way_out);
    return targets.empty() ? text : text.append(way_out_jumps_to).append(targets);
}
inline std::string_view tail_targets_of(std::string_view way_out) {
    const size_t at = way_out.find(way_out_jumps_to);
    return at == way_out.npos ? std::string_view() : way_out.substr(at + way_out_jumps_to.size());
}

} // namespace auger
