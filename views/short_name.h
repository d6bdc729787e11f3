// SPDX-License-Identifier: GPL-3.0-or-later
// Names as text views show them: without parameter lists and template arguments, which fill a line
// and seldom tell two frames apart. JSON, collapsed stacks and recordings keep the whole name.
#pragma once

#include <string>
#include <string_view>

namespace auger {

// `std::sort<It, Less>(It, It, Less)` -> `std::sort<>`. Operators, `(anonymous namespace)` and the
// braces of lambdas stay; a name whose brackets do not match stays as it is.
std::string short_name(std::string_view name);

// The same, safe to print.
std::string display_name(std::string_view name);

} // namespace auger
