// SPDX-License-Identifier: GPL-3.0-or-later
// A type that is only declared where a function was compiled may be defined where another one was.
#pragma once

#include "loader/reader/values/value_type.h"

#include <optional>

namespace auger {

// Nothing when there is none, or several of that name that differ. Reads the names of all types of
// the file, which takes its time.
std::optional<Dwarf_Die> definition_of(const ValueType& declared);

} // namespace auger
