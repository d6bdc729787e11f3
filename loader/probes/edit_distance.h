// SPDX-License-Identifier: GPL-3.0-or-later
// How far a typing mistake is from what was meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// Edits (insert, delete, replace, swap of neighbours), case ignored; `limit` + 1 when more.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

// Those of `names` that a typing mistake explains, best first, each once.
std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string>& names,
                                    size_t limit = 5);

} // namespace auger
