// SPDX-License-Identifier: GPL-3.0-or-later
// code_extent: where a function ends of which only the begin is known, as of much hand-written
// assembly. Up to the next symbol there may be data, and a breakpoint in data is a wrong number.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/code/function_code.h"

#include <cstddef>

namespace auger {

// Bytes from the begin of `part` that are code, as far as its own jumps and straight lines lead.
// Fails when that cannot be told: when something else lies in between, or a jump may lead anywhere.
Result<size_t> code_extent(const CodePart& part);

} // namespace auger
