// SPDX-License-Identifier: GPL-3.0-or-later
// The values of a tracepoint: the fields of its record.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/values/compile_program.h"
#include "loader/reader/values/place.h"

#include <string>
#include <vector>

namespace auger {

// Of a scope with `tracepoint`: the names of its fields, in the order of the record; none when its
// format is not understood.
std::vector<std::string> tracepoint_fields(const ValueScope& scope);

// Of a scope with `tracepoint`. Errors have a cause and a hint.
Result<Place> tracepoint_field(const ValueScope& scope, const std::string& name);

// Why anything but a field is no value of a tracepoint.
Error no_tracepoint_value(const ValueScope& scope);

} // namespace auger
