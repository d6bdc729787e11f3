// SPDX-License-Identifier: GPL-3.0-or-later
// Where the calling convention of the machine puts parameters and results: loader/arch.
#pragma once

#include "loader/reader/values/place.h"

#include <optional>
#include <vector>

namespace auger {

// The place of an argument by its number among those that are integers or pointers.
Place argument_place(unsigned number, ValueType type);

// Of every parameter; nothing for one that is in no general register or stack slot (a float), or
// from one on whose way cannot be told. `cpp`: classes may be passed by reference.
std::vector<std::optional<Place>> parameter_places(const std::vector<ValueType>& parameters,
                                                   const ValueType& result, bool cpp);

// Nothing: a float, or it cannot be told.
std::optional<Place> result_place(const ValueType& result, bool cpp);

} // namespace auger
