// SPDX-License-Identifier: GPL-3.0-or-later
// Predicates in disjunctive normal form, as the kernel evaluates them: clauses of comparisons, one
// of which must hold.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/values/operand.h"
#include "loader/reader/values/program_builder.h"
#include "loader/values/expression.h"

#include <string_view>

namespace auger {

// Adds the predicate's comparisons and values to the program.
Result<wire_predicate> compile_predicate(std::string_view text, const Expression& expression,
                                         const FunctionValues& values, ProgramBuilder& builder);

} // namespace auger
