// SPDX-License-Identifier: GPL-3.0-or-later
// What to say when a name is not known.
#pragma once

#include <string>
#include <vector>

namespace auger {

// "is "length" meant? there are fd, length, ..."; empty when there are none.
std::string known_names(const std::string& wanted, const std::vector<std::string>& names);

} // namespace auger
