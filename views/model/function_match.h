// SPDX-License-Identifier: GPL-3.0-or-later
// How a function is named by people who have seen it: one rule for all commands and panes.
#pragma once

#include <cstdint>
#include <string_view>

namespace auger {

// How well `wanted` names a function; the best of several is meant.
enum class NameMatch : uint8_t {
    none,
    part,  // as gdb: leading namespaces, template arguments or parameters are left out
    shown, // as views show it
    whole,
};

// `name`: as in symbols, demangled; not empty.
NameMatch match_name(std::string_view name, std::string_view wanted);

// "parse" names "ns::Parser::parse(int)".
inline bool names_function(std::string_view name, std::string_view wanted) {
    return match_name(name, wanted) != NameMatch::none;
}

// The name up to its parameters; "operator()" is part of the name.
std::string_view without_parameters(std::string_view name);

} // namespace auger
