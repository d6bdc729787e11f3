// SPDX-License-Identifier: GPL-3.0-or-later
// The values of a site of a USDT probe: the arguments that its note names.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/values/compile_program.h"
#include "loader/reader/values/place.h"

#include <string_view>
#include <vector>

namespace auger {

// Separated by spaces: each has its size in bytes (negative: with a sign), an @, and an operand as
// the assembler writes it.
std::vector<std::string_view> split_usdt_arguments(std::string_view arguments);

// Of a scope with `usdt_arguments`. Errors have a cause and a hint.
Result<Place> usdt_argument(const ValueScope& scope, unsigned number);

} // namespace auger
