// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/key_help.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

std::vector<std::string_view> groups() {
    std::vector<std::string_view> names;
    for (const KeyRow& row : key_table()) {
        if (std::ranges::find(names, row.group) == names.end())
            names.push_back(row.group);
    }
    return names;
}

} // namespace

std::vector<PagerLine> key_help() {
    std::vector<PagerLine> lines;
    for (std::string_view group : groups()) {
        if (!lines.empty())
            lines.emplace_back();
        lines.push_back({std::string(group), Style::title, {}});
        for (const KeyRow& row : key_table()) {
            if (row.group != group)
                continue;
            std::string keys;
            for (const Key& key : row.keys)
                keys += (keys.empty() ? "" : " ") + name_of(key);
            lines.push_back({fmt::format("{:<18}  {}", keys, row.summary), Style::plain, {}});
        }
    }
    return lines;
}

std::string key_markdown() {
    std::string text = "| keys | |\n|---|---|\n";
    for (std::string_view group : groups()) {
        text += fmt::format("| **{}** | |\n", group);
        for (const KeyRow& row : key_table()) {
            if (row.group != group)
                continue;
            std::string keys;
            for (const Key& key : row.keys)
                keys += fmt::format("{}`{}`", keys.empty() ? "" : " ", name_of(key));
            text += fmt::format("| {} | {} |\n", keys, row.summary);
        }
    }
    return text;
}

} // namespace auger
