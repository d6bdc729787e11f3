// SPDX-License-Identifier: GPL-3.0-or-later
// Variables of this process's environment, for processes that get none by themselves.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// "NAME=VALUE" of those of these names, and of those that begin with `prefix`, if one is given.
std::vector<std::string> own_variables(std::span<const std::string_view> names,
                                       std::string_view prefix = {});

} // namespace auger
