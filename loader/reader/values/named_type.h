// SPDX-License-Identifier: GPL-3.0-or-later
// Types by the names that users write in casts.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/values/value_type.h"

#include <optional>
#include <string>

namespace auger {

// u8, `unsigned long`, ...; nothing when it is none.
std::optional<ValueType> basic_value_type(const std::string& name);

// Of the debug information: `struct request`, `request`, `shop::Item`, a typedef, an enumeration;
// first as the unit knows it. Errors have cause and hint (near names). Reads the names of all types
// of the file when the unit does not have it.
Result<ValueType> find_type(Dwarf* dwarf, std::optional<Dwarf_Die> unit, const std::string& name);

} // namespace auger
