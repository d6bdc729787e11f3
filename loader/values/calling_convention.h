// SPDX-License-Identifier: GPL-3.0-or-later
// Where the System V AMD64 calling convention puts integers and pointers.
#pragma once

#include "loader/values/place.h"

namespace auger {

inline constexpr unsigned convention_registers = 6;

// The place of an argument by its number among those that are integers or pointers.
Place argument_place(unsigned number, ValueType type);

} // namespace auger
