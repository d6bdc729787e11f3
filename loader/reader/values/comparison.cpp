// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/comparison.h"

#include "loader/reader/values/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {
namespace {

using Node = Expression::Kind;
using enum ComparisonOperator;

constexpr size_t trace_digits = 32;

ComparisonOperator opposite(ComparisonOperator operation) {
    switch (operation) {
    case equal:
        return unequal;
    case unequal:
        return equal;
    case less:
        return greater_equal;
    case less_equal:
        return greater;
    case greater:
        return less_equal;
    case greater_equal:
        return less;
    }
    return operation;
}

// a < b is b > a.
ComparisonOperator mirrored(ComparisonOperator operation) {
    switch (operation) {
    case less:
        return greater;
    case less_equal:
        return greater_equal;
    case greater:
        return less;
    case greater_equal:
        return less_equal;
    default:
        return operation;
    }
}

uint8_t wire_comparison_of(ComparisonOperator operation) {
    switch (operation) {
    case equal:
        return WIRE_EQUAL;
    case unequal:
        return WIRE_UNEQUAL;
    case less:
        return WIRE_LESS;
    case less_equal:
        return WIRE_LESS_EQUAL;
    case greater:
        return WIRE_GREATER;
    case greater_equal:
        return WIRE_GREATER_EQUAL;
    }
    return WIRE_EQUAL;
}

bool is_equality(ComparisonOperator operation) {
    return operation == equal || operation == unequal;
}

bool is_zero(const Expression& expression) {
    return expression.kind == Node::number && expression.number == 0;
}

} // namespace

Error ComparisonCompiler::at(const Expression& expression, Error error) const {
    return expression_error(text_, expression.at, std::move(error.cause), std::move(error.hint));
}

Result<uint8_t> ComparisonCompiler::value(const Expression& expression, const Operand& operand) {
    auto index = builder_.add_value(operand);
    if (!index)
        return at(expression, index.error());
    return index;
}

Result<uint8_t> ComparisonCompiler::add(const Expression& expression, const Operand& operand,
                                        wire_comparison comparison) {
    auto index = value(expression, operand);
    if (!index)
        return index;
    comparison.value = *index;
    auto added = builder_.add_comparison(comparison);
    if (!added)
        return at(expression, added.error());
    return added;
}

Result<uint8_t> ComparisonCompiler::compile(const Expression& expression, bool negated) {
    if (expression.kind == Node::comparison)
        return compare(expression, negated);
    if (auto bits = masked(expression))
        return compare_bits(*bits, !negated);
    if (is_literal(expression))
        return reader_.error(expression, "is the same for every call",
                             "a condition compares values: arg2 > 4096 and ret < 0");
    auto operand = reader_.read(expression);
    if (!operand)
        return operand.error();
    if (operand->is_trace() || operand->is_go_label())
        return compare_text(expression, *operand, expression, "", negated ? equal : unequal);
    if (operand->is_string())
        return reader_.error(expression, "is a string, not a condition",
                             "compare it: str(arg0) == \"GET\"");
    return compare_constant(expression, *operand, 0, negated ? equal : unequal);
}

std::optional<ComparisonCompiler::Masked>
ComparisonCompiler::masked(const Expression& expression) const {
    if (expression.kind != Node::arithmetic || expression.arithmetic != ArithmeticOperator::bit_and)
        return std::nullopt;
    const Expression* value = expression.operands[0].get();
    const Expression* mask = expression.operands[1].get();
    if (is_literal(*value))
        std::swap(value, mask);
    auto operand = reader_.read(*value);
    if (!operand || operand->is_string())
        return std::nullopt;
    const auto constant = constant_for(*mask, *operand);
    if (!constant)
        return std::nullopt;
    return Masked{value, mask, *std::move(operand), *constant};
}

Result<uint8_t> ComparisonCompiler::compare_bits(const Masked& masked, bool set) {
    const uint64_t bits = masked.mask.number;
    if (bits == 0)
        return reader_.error(*masked.mask_at, "selects no bit");
    if (!masked.mask.negative && masked.operand.bits < 64 && bits >> masked.operand.bits)
        return reader_.error(*masked.mask_at,
                             fmt::format("selects bits that the value does not have: it has {}",
                                         masked.operand.bits));
    wire_comparison comparison{};
    comparison.operation = set ? WIRE_BITS_SET : WIRE_BITS_CLEAR;
    comparison.constant = bits;
    return add(*masked.value, masked.operand, comparison);
}

Result<uint8_t> ComparisonCompiler::compare(const Expression& expression, bool negated) {
    const Expression* left = expression.operands[0].get();
    const Expression* right = expression.operands[1].get();
    ComparisonOperator operation = expression.comparison;
    if (is_literal(*left) && is_literal(*right))
        return reader_.error(expression, "is the same for every call",
                             "a condition compares values: arg2 > 4096 and ret < 0");
    if (is_literal(*left)) {
        std::swap(left, right);
        operation = mirrored(operation);
    }
    if (negated)
        operation = opposite(operation);
    if (is_zero(*right) && is_equality(operation))
        if (auto bits = masked(*left))
            return compare_bits(*bits, operation == unequal);
    for (const Expression* side : {left, right})
        if (side->condition())
            return reader_.error(*side, "is a condition where a value is wanted",
                                 "conditions are joined by \"and\", \"or\", \"not\"");
    auto first = reader_.read(*left);
    if (!first) {
        // An enumerator on the left?
        auto other = reader_.read(*right);
        if (!other || !constant_for(*left, *other))
            return first.error();
        std::swap(left, right);
        operation = mirrored(operation);
        first = std::move(other);
    }
    if (first->is_trace())
        return compare_trace(*left, *first, *right, operation);
    if (first->is_string())
        return compare_string(*left, *first, *right, operation);
    if (const auto constant = constant_for(*right, *first)) {
        const auto held = as_held_by(*first, *constant);
        if (!held)
            return reader_.error(*right, "is a number that the value never is",
                                 "it is " + range_of(*first));
        // The bits of a pattern say which value is meant, not whether one is smaller.
        if (!is_equality(operation) && *held != constant->number)
            return reader_.error(*right, "is a number that the value never is",
                                 "it is " + range_of(*first));
        return compare_constant(*left, *first, *held, operation);
    }
    if (right->kind == Node::string)
        return reader_.error(
            *right, "is a string, and is compared with a number",
            first->type.kind == ValueType::Kind::pointer ||
                    first->type.kind == ValueType::Kind::word
                ? fmt::format("write str({})", text_.substr(left->at.offset, left->at.length))
                : "");
    auto second = reader_.read(*right);
    if (!second && right->kind == Node::name && !first->format.names.empty())
        return no_enumerator(*right, *first);
    if (!second)
        return second.error();
    if (second->is_string())
        return reader_.error(*right, "is a string, and is compared with a number");
    return compare_values(expression, *first, *second, operation);
}

Error ComparisonCompiler::no_enumerator(const Expression& name, const Operand& operand) const {
    std::vector<std::string> names;
    for (const auto& [number, enumerator] : operand.format.names)
        names.push_back(enumerator);
    return reader_.error(name, fmt::format("{} has no \"{}\"", operand.type.name, name.text),
                         known_names(name.text, names));
}

Result<uint8_t> ComparisonCompiler::compare_values(const Expression& expression,
                                                   const Operand& left, const Operand& right,
                                                   ComparisonOperator operation) {
    auto index = value(expression, right);
    if (!index)
        return index;
    wire_comparison comparison{};
    comparison.operation = wire_comparison_of(operation);
    comparison.flags = WIRE_COMPARE_VALUES;
    // Both are extended to 64 bits: as signed numbers they compare as they should, but for unsigned
    // ones from 2^63 on, which then are beside a signed one only.
    if (left.is_signed() || right.is_signed())
        comparison.flags |= WIRE_COMPARE_SIGNED;
    comparison.constant = *index;
    return add(expression, left, comparison);
}

Result<uint8_t> ComparisonCompiler::compare_string(const Expression& value, const Operand& operand,
                                                   const Expression& string,
                                                   ComparisonOperator operation) {
    if (string.kind != Node::string)
        return reader_.error(string, "is not a string, and is compared with one",
                             "a string is in quotes: \"GET\"");
    if (!is_equality(operation))
        return reader_.error(value, "is a string: it is equal (==) or not (!=)");
    return compare_text(value, operand, string, string.text, operation);
}

// 0 is none, as of numbers.
Result<uint8_t> ComparisonCompiler::compare_trace(const Expression& value, const Operand& operand,
                                                  const Expression& trace,
                                                  ComparisonOperator operation) {
    if (!is_equality(operation))
        return reader_.error(value, "is a trace id: it is equal (==) or not (!=)");
    std::string digits = trace.kind == Node::string ? trace.text : "";
    std::ranges::transform(digits, digits.begin(),
                           [](char c) { return c >= 'A' && c <= 'F' ? char(c - 'A' + 'a') : c; });
    const bool is_id = digits.size() == trace_digits &&
                       digits.find_first_not_of("0123456789abcdef") == digits.npos &&
                       digits.find_first_not_of('0') != digits.npos;
    if (!is_id && !is_zero(trace))
        return reader_.error(
            trace, "is no trace id, and is compared with one",
            fmt::format("it is {} hexadecimal digits in quotes, or 0 for none", trace_digits));
    return compare_text(value, operand, trace, digits, operation);
}

Result<uint8_t> ComparisonCompiler::compare_text(const Expression& value, const Operand& operand,
                                                 const Expression& where, const std::string& text,
                                                 ComparisonOperator operation) {
    auto index = builder_.add_string(text);
    if (!index)
        return at(where, index.error());
    wire_comparison comparison{};
    comparison.operation = wire_comparison_of(operation);
    comparison.flags = WIRE_COMPARE_STRING;
    comparison.constant = *index;
    return add(value, operand, comparison);
}

Result<uint8_t> ComparisonCompiler::compare_constant(const Expression& value,
                                                     const Operand& operand, uint64_t number,
                                                     ComparisonOperator operation) {
    wire_comparison comparison{};
    comparison.operation = wire_comparison_of(operation);
    comparison.flags = operand.is_signed() ? WIRE_COMPARE_SIGNED : 0;
    comparison.constant = number;
    return add(value, operand, comparison);
}

} // namespace auger
