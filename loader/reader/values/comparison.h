// SPDX-License-Identifier: GPL-3.0-or-later
// One comparison: of a value with a constant, a string, another value, or some of its bits.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/values/constant.h"
#include "loader/reader/values/operand.h"
#include "loader/reader/values/program_builder.h"
#include "loader/values/expression.h"

#include <optional>
#include <string>
#include <string_view>

namespace auger {

class ComparisonCompiler {
  public:
    ComparisonCompiler(std::string_view text, const FunctionValues& values, ProgramBuilder& builder)
        : text_(text), reader_(text, values), builder_(builder) {}

    // The index of the comparison, or with `negated` of its opposite.
    Result<uint8_t> compile(const Expression& expression, bool negated);

  private:
    Result<uint8_t> compare(const Expression& expression, bool negated);
    // `value & mask` of a constant mask.
    struct Masked {
        const Expression* value;
        const Expression* mask_at;
        Operand operand;
        Constant mask;
    };
    std::optional<Masked> masked(const Expression& expression) const;
    Result<uint8_t> compare_bits(const Masked& masked, bool set);
    Result<uint8_t> compare_values(const Expression& expression, const Operand& left,
                                   const Operand& right, ComparisonOperator operation);
    Result<uint8_t> compare_trace(const Expression& value, const Operand& operand,
                                  const Expression& trace, ComparisonOperator operation);
    Result<uint8_t> compare_text(const Expression& value, const Operand& operand,
                                 const Expression& where, const std::string& text,
                                 ComparisonOperator operation);
    Result<uint8_t> compare_string(const Expression& value, const Operand& operand,
                                   const Expression& string, ComparisonOperator operation);
    Result<uint8_t> compare_constant(const Expression& value, const Operand& operand,
                                     uint64_t number, ComparisonOperator operation);
    Result<uint8_t> add(const Expression& expression, const Operand& operand,
                        wire_comparison comparison);
    Result<uint8_t> value(const Expression& expression, const Operand& operand);
    Error no_enumerator(const Expression& name, const Operand& operand) const;
    Error at(const Expression& expression, Error error) const;

    std::string_view text_;
    OperandReader reader_;
    ProgramBuilder& builder_;
};

} // namespace auger
