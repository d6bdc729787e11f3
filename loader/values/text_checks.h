// SPDX-License-Identifier: GPL-3.0-or-later
// What can be said of a predicate or an expression without a target: for the console, before
// anything is attached. Changes when more can be said so early.
#pragma once

#include "loader/base/result.h"

#include <string_view>

namespace auger {

Result<void> check_predicate(std::string_view text);
Result<void> check_expression(std::string_view text);

} // namespace auger
