// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of CPUs, which may have gaps: as many elements as there are CPUs are too few for what
// is found by a CPU's number.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace auger {

// One more than the largest of a list in the kernel's form, in ascending order: 12 of "0-3,8-11".
// Nothing when it is none.
inline std::optional<uint32_t> count_cpu_ids(std::string_view list) {
    const std::string_view last = list.substr(list.find_last_of("-,") + 1);
    uint32_t id = 0;
    const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), id);
    if (error != std::errc{} || end != last.data() + last.size() || id == UINT32_MAX)
        return std::nullopt;
    return id + 1;
}

} // namespace auger
