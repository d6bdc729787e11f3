// SPDX-License-Identifier: GPL-3.0-or-later
// From an expression to what is read: names and members become a place, the place a wire_fetch.
#pragma once

#include "bpf/wire.h"
#include "loader/base/result.h"
#include "loader/reader/values/function_values.h"
#include "loader/values/expression.h"

#include <string_view>

namespace auger {

// One value of a call.
struct Operand {
    wire_fetch fetch{};
    ValueFormat format{};
    ValueType type{};
    uint64_t bits = 64; // that it has
    bool is_string() const { return fetch.flags & WIRE_FETCH_STRING; }
    bool is_signed() const { return fetch.flags & WIRE_FETCH_SIGNED; }
};

// Errors have cause and hint. A number, pointer, enumerator ...
Result<Operand> number_operand(FunctionValue value);
// ... and the text that a value is or points to.
Result<Operand> string_operand(FunctionValue value);

class OperandReader {
  public:
    // `text`: of which the expressions are.
    OperandReader(std::string_view text, const FunctionValues& values)
        : text_(text), values_(values) {}

    Result<Operand> read(const Expression& expression) const;
    Error error(const Expression& expression, std::string cause, std::string hint = {}) const;

  private:
    Result<FunctionValue> resolve(const Expression& expression) const;
    Result<FunctionValue> resolve_name(const Expression& expression) const;
    Result<FunctionValue> resolve_member(const Expression& expression) const;
    Result<FunctionValue> resolve_element(const Expression& expression) const;
    Error at(const Expression& expression, Error error) const;

    std::string_view text_;
    const FunctionValues& values_;
};

} // namespace auger
