// SPDX-License-Identifier: GPL-3.0-or-later
// The place is the column behind the three of figures, and ends at a gap; see `sites`. A place
// without a line ("service+0x12a4") cannot be written as a probe.
#include "views/screen/site_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

constexpr std::string_view digits = "0123456789";

} // namespace

void mark_sites(std::vector<PagerLine>& lines, const std::string& function) {
    size_t column = std::string::npos;
    for (PagerLine& line : lines) {
        if (column == std::string::npos) {
            column = line.text.find("  place");
            column += column == std::string::npos ? 0 : 2;
            continue;
        }
        if (line.text.size() <= column || line.text[column - 1] != ' ')
            continue;
        const std::string place = line.text.substr(column, line.text.find("  ", column) - column);
        const size_t colon = place.rfind(':');
        if (colon == std::string::npos || colon == 0 || colon + 1 == place.size() ||
            place.find_first_not_of(digits, colon + 1) != std::string::npos)
            continue;
        line.probe = fmt::format("{}@{}", function, place);
    }
}

std::optional<size_t> find_site(const std::vector<PagerLine>& lines,
                                const std::vector<std::string>& places, const std::string& caller) {
    const auto find = [&](const auto& fits) -> std::optional<size_t> {
        for (size_t i = 0; i < lines.size(); i++)
            if (!lines[i].probe.empty() && fits(lines[i]))
                return i;
        return std::nullopt;
    };
    for (const std::string& place : places)
        if (const auto found =
                find([&](const PagerLine& line) { return line.probe.ends_with("@" + place); });
            found && !place.empty())
            return found;
    if (caller.empty())
        return std::nullopt;
    return find([&](const PagerLine& line) {
        return line.text.find("  " + caller + "  (") != std::string::npos;
    });
}

} // namespace auger
