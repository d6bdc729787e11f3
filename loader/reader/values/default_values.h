// SPDX-License-Identifier: GPL-3.0-or-later
// What slow calls show when nobody said what.
#pragma once

#include "loader/reader/values/function_values.h"
#include "loader/reader/values/program_builder.h"

namespace auger {

// Parameters, result, and errno for when the call failed: what is known and fits. `with_trace`: and
// what it belongs to, where there is that.
void show_default_values(const FunctionValues& values, bool with_trace, ProgramBuilder& builder);

} // namespace auger
