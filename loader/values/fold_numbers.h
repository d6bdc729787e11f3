// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic on numbers that are written out: `4 * 1024`.
#pragma once

#include "loader/values/expression.h"

namespace auger {

// Kind::number, without a place. Errors have cause and hint: what does not fit into 64 bits.
Result<ExpressionPointer> fold_numbers(ArithmeticOperator operation, const Expression& left,
                                       const Expression& right);

} // namespace auger
