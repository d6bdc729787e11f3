// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/names.h"

#include "loader/probes/edit_distance.h"

#include <fmt/format.h>

namespace auger {

constexpr size_t listed_limit = 12;

std::string known_names(const std::string& wanted, const std::vector<std::string>& names) {
    std::string text;
    const auto near = near_names(wanted, names, 1);
    if (!near.empty())
        text = fmt::format("is \"{}\" meant? ", near[0]);
    for (size_t i = 0; i < names.size() && i < listed_limit; ++i)
        text += (i ? ", " : "there are ") + names[i];
    if (names.size() > listed_limit)
        text += fmt::format(" and {} more", names.size() - listed_limit);
    return text;
}

} // namespace auger
