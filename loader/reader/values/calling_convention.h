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

// Of functions that Go's compiler made, by its ABIInternal (Go 1.17 and later; abi-internal.md of
// its sources): the place of an argument by its number among the words that are in general
// registers, of which a string is two. Nothing: it is in none.
std::optional<Place> go_argument_place(unsigned number, ValueType type);

// ... and of every result where the function returns; nothing for one that is in no general
// register, or from one on whose way cannot be told.
std::vector<std::optional<Place>> go_result_places(const std::vector<ValueType>& results);

} // namespace auger
