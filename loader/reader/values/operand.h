// SPDX-License-Identifier: GPL-3.0-or-later
// From an expression to what is read: names and members become a place, the place a wire_fetch.
#pragma once

#include "bpf/wire.h"
#include "loader/base/result.h"
#include "loader/reader/values/function_values.h"
#include "loader/values/expression.h"

#include <memory>
#include <optional>
#include <string_view>

namespace auger {

// One value of a call, or a number beside one.
struct Operand {
    wire_fetch fetch{};
    ValueFormat format{};
    ValueType type{};
    uint64_t bits = 64;                               // that it has
    std::shared_ptr<const Computation> computation{}; // the place's
    // Of WIRE_FETCH_COUNTED: how long it is.
    std::shared_ptr<const Operand> length{};
    bool is_string() const { return fetch.flags & WIRE_FETCH_STRING; }
    bool is_signed() const { return fetch.flags & WIRE_FETCH_SIGNED; }
    bool is_trace() const { return format.kind == ValueFormat::Kind::trace_id; }
    bool is_go_label() const { return format.kind == ValueFormat::Kind::go_label; }
};

// What a value of WIRE_BASE_COMPUTED is made of.
struct Computation {
    wire_operation operation = WIRE_ADD;
    Operand left{};
    std::optional<Operand> right{};
    uint64_t constant = 1; // in place of `right`, or the factor that it has
};

// Errors have cause and hint. A number, pointer, enumerator ...
Result<Operand> number_operand(FunctionValue value);
// ... and the text that a value is or points to.
Result<Operand> string_operand(FunctionValue value);
// ... and a trace id, which is compared as its text.
Result<Operand> trace_operand(const FunctionValue& value);

// ... and a goroutine's label, when the call begins or when it returns.
Operand go_label_operand(const std::string& key, bool at_end);

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
    Result<FunctionValue> resolve_address(const Expression& expression) const;
    Result<FunctionValue> resolve_cast(const Expression& expression) const;
    Result<FunctionValue> resolve_arithmetic(const Expression& expression) const;
    // That arithmetic is done with: an array is the pointer to its first element.
    Result<FunctionValue> resolve_number(const Expression& expression) const;
    Result<FunctionValue> as_pointer(const Expression& expression, FunctionValue value) const;
    Result<FunctionValue> follow(const Expression& pointer, FunctionValue value) const;
    Result<FunctionValue> go_to_element(const Expression& expression, FunctionValue value,
                                        int64_t index) const;
    Result<FunctionValue> plus_index(const Expression& owner, FunctionValue pointer,
                                     const Expression& index) const;

    // A value and the expression that it is of.
    struct Term {
        const Expression& at;
        FunctionValue value;
    };
    Result<FunctionValue> with_number(ArithmeticOperator operation, Term value,
                                      const Expression& number) const;
    Result<FunctionValue> number_with(ArithmeticOperator operation, const Expression& number,
                                      Term value) const;
    Result<FunctionValue> with_value(ArithmeticOperator operation, Term left, Term right) const;
    Result<Operand> operand(const Expression& at, FunctionValue value) const;
    Result<ValueType> named_type(const Expression& cast) const;
    Error at(const Expression& expression, Error error) const;

    std::string_view text_;
    const FunctionValues& values_;
};

} // namespace auger
