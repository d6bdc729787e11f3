// SPDX-License-Identifier: GPL-3.0-or-later
// Sums, differences and bits of values, elements at an index that is a value, addresses and casts.
// What can be said as an offset is; for the rest, values are computed of others. As in C, but every
// operand has 64 bits first.
#include "loader/reader/values/dwarf_types.h"
#include "loader/reader/values/operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {
namespace {

using Kind = ValueType::Kind;
using enum ArithmeticOperator;

bool is_number(const Expression& expression) {
    return expression.kind == Expression::Kind::number;
}
bool is_pointer(const FunctionValue& value) {
    return value.place.type.kind == Kind::pointer;
}
bool is_shift(ArithmeticOperator operation) {
    return operation == shift_left || operation == shift_right;
}
bool is_division(ArithmeticOperator operation) {
    return operation == divide || operation == modulo;
}

ValueType number_type(bool is_signed) {
    ValueType type;
    type.kind = Kind::integer;
    type.is_signed = is_signed;
    type.name = is_signed ? "s64" : "u64";
    return type;
}

// Of the result, which has 64 bits: unsigned when an operand of 64 bits is.
ValueType result_type(const ValueType& left, const ValueType& right) {
    for (const ValueType* type : {&left, &right})
        if (!type->is_signed && type->size == 8)
            return number_type(false);
    return left.kind == Kind::word && right.kind == Kind::word ? left : number_type(true);
}

wire_operation wire_operation_of(ArithmeticOperator operation, bool is_signed) {
    switch (operation) {
    case add:
        return WIRE_ADD;
    case subtract:
        return WIRE_SUBTRACT;
    case multiply:
        return WIRE_MULTIPLY;
    case divide:
        return is_signed ? WIRE_DIVIDE_SIGNED : WIRE_DIVIDE;
    case modulo:
        return is_signed ? WIRE_MODULO_SIGNED : WIRE_MODULO;
    case bit_and:
        return WIRE_AND;
    case bit_or:
        return WIRE_OR;
    case shift_left:
        return WIRE_SHIFT_LEFT;
    case shift_right:
        return is_signed ? WIRE_SHIFT_RIGHT_SIGNED : WIRE_SHIFT_RIGHT;
    }
    return WIRE_ADD;
}

// What a pointer counts in, in bytes; nothing when that is not known. Of what is not a pointer, or
// one to anything: bytes.
std::optional<uint64_t> stride_of(const ValueType& type) {
    if (!has_pointee(type))
        return 1;
    const ValueType target = pointee(type);
    if (target.kind == Kind::nothing)
        return 1;
    return target.size && target.size <= INT32_MAX ? std::optional(target.size) : std::nullopt;
}

FunctionValue made_of(wire_base base, Computation computation, ValueType type) {
    const auto at_end = [](const Operand& operand) {
        return (operand.fetch.flags & WIRE_FETCH_AT_END) != 0;
    };
    FunctionValue value;
    value.place.base = base;
    value.place.at_end =
        at_end(computation.left) || (computation.right && at_end(*computation.right));
    value.place.computation = std::make_shared<const Computation>(std::move(computation));
    value.place.type = std::move(type);
    return value;
}

constexpr const char* no_stride = "leads to something of no known size, so nothing can be added";
constexpr const char* bytes_hint = "cast it to count in bytes: (char *)POINTER + 8";

} // namespace

Result<FunctionValue> OperandReader::resolve_number(const Expression& expression) const {
    auto value = resolve(expression);
    if (value && value->place.type.kind == Kind::array)
        return as_pointer(expression, *std::move(value));
    if (value && !value->place.type.scalar()) // says why
        return operand(expression, *std::move(value)).error();
    return value;
}

Result<FunctionValue> OperandReader::resolve_arithmetic(const Expression& expression) const {
    const Expression &left = *expression.operands[0], &right = *expression.operands[1];
    const ArithmeticOperator operation = expression.arithmetic;
    auto value = resolve_number(is_number(left) ? right : left);
    if (!value)
        return value;
    if (is_number(right))
        return with_number(operation, {left, *std::move(value)}, right);
    if (is_number(left))
        return number_with(operation, left, {right, *std::move(value)});
    auto other = resolve_number(right);
    if (!other)
        return other;
    return with_value(operation, {left, *std::move(value)}, {right, *std::move(other)});
}

Result<FunctionValue> OperandReader::with_number(ArithmeticOperator operation, Term term,
                                                 const Expression& number) const {
    FunctionValue& value = term.value;
    const bool sum = operation == add || operation == subtract;
    if (is_shift(operation) && (number.negative || number.number > 63))
        return error(number, "is not a number of bits to shift by", "0 to 63 are");
    if (is_division(operation) && number.number == 0)
        return error(number, "is what nothing can be divided by");
    uint64_t constant = number.number;
    ValueType type = value.place.type;
    if (sum) {
        const auto stride = stride_of(type);
        if (!stride)
            return error(term.at, no_stride, bytes_hint);
        constant *= operation == add ? *stride : -*stride;
    }
    if (!sum || !is_pointer(value))
        type = result_type(type, type);
    value.meaning.reset();
    if (sum && add_to_value(value.place, static_cast<int64_t>(constant), type))
        return std::move(value);
    auto left = operand(term.at, std::move(value));
    if (!left)
        return left.error();
    const wire_operation wire = sum ? WIRE_ADD : wire_operation_of(operation, type.is_signed);
    return made_of(WIRE_BASE_COMPUTED, {wire, *std::move(left), {}, constant}, std::move(type));
}

Result<FunctionValue> OperandReader::number_with(ArithmeticOperator operation,
                                                 const Expression& number, Term term) const {
    if (operation != subtract && !is_shift(operation) && !is_division(operation))
        return with_number(operation, std::move(term), number);
    if (is_pointer(term.value) && !is_division(operation))
        return error(term.at, "is a pointer, and what is subtracted or shifted by is a number");
    const ValueType own = number_type(number.negative || number.number <= INT64_MAX);
    const ValueType& other = term.value.place.type;
    ValueType type = is_shift(operation) || other.kind != Kind::word ? own : other;
    if (!is_shift(operation) && !other.is_signed && other.size == 8)
        type = number_type(false);
    auto left = operand(number, made_of(WIRE_BASE_CONSTANT, {.constant = number.number}, own));
    auto right = operand(term.at, std::move(term.value));
    if (!left || !right)
        return left ? right.error() : left.error();
    return made_of(
        WIRE_BASE_COMPUTED,
        {wire_operation_of(operation, type.is_signed), *std::move(left), *std::move(right), 1},
        std::move(type));
}

Result<FunctionValue> OperandReader::with_value(ArithmeticOperator operation, Term left,
                                                Term right) const {
    uint64_t factor = 1, divisor = 1;
    const ValueType first = left.value.place.type, second = right.value.place.type;
    const bool pointers = is_pointer(left.value) || is_pointer(right.value);
    ValueType type = is_shift(operation) ? result_type(first, first) : result_type(first, second);
    if (pointers && operation == add) {
        if (is_pointer(left.value) && is_pointer(right.value))
            return error(right.at, "is a pointer, and is added to one");
        if (is_pointer(right.value))
            return with_value(operation, std::move(right), std::move(left));
    }
    if (pointers && (operation == add || operation == subtract)) {
        if (!is_pointer(left.value))
            return error(right.at, "is a pointer, and is subtracted from a number");
        const auto stride = stride_of(first);
        if (!stride)
            return error(left.at, no_stride, bytes_hint);
        if (!is_pointer(right.value)) {
            factor = *stride;
            type = first;
        } else if (stride_of(second) != stride) {
            return error(right.at, "is a pointer to something of another size",
                         "in bytes the difference is (u64)p - (u64)q");
        } else {
            type = number_type(true);
            divisor = *stride;
        }
    }
    auto a = operand(left.at, std::move(left.value));
    auto b = operand(right.at, std::move(right.value));
    if (!a || !b)
        return a ? b.error() : a.error();
    FunctionValue value = made_of(
        WIRE_BASE_COMPUTED,
        {wire_operation_of(operation, type.is_signed), *std::move(a), *std::move(b), factor}, type);
    if (divisor == 1)
        return value;
    auto bytes = operand(left.at, std::move(value));
    if (!bytes)
        return bytes.error();
    return made_of(WIRE_BASE_COMPUTED, {WIRE_DIVIDE_SIGNED, *std::move(bytes), {}, divisor},
                   std::move(type));
}

Result<FunctionValue> OperandReader::plus_index(const Expression& owner, FunctionValue pointer,
                                                const Expression& index) const {
    auto first = as_pointer(owner, std::move(pointer));
    if (!first)
        return first;
    auto value = resolve_number(index);
    if (!value)
        return value;
    if (is_pointer(*value))
        return error(index, "is a pointer, and no index");
    return with_value(add, {owner, *std::move(first)}, {index, *std::move(value)});
}

Result<FunctionValue> OperandReader::resolve_address(const Expression& expression) const {
    const Expression& inner = *expression.operands[0];
    auto value = resolve(inner);
    if (!value)
        return value;
    if (auto objection = take_address(value->place, pointer_to(value->place.type)))
        return error(inner, *std::move(objection));
    value->meaning.reset();
    return value;
}

Result<ValueType> OperandReader::named_type(const Expression& cast) const {
    const auto error_at = [&](std::string cause, std::string hint) {
        return expression_error(text_, cast.name_at, std::move(cause), std::move(hint));
    };
    auto type = values_.type(cast.type.text);
    if (!type)
        return error_at(type.error().cause, type.error().hint);
    for (unsigned i = 0; i < cast.type.pointers; ++i)
        *type = pointer_to(*type);
    if (type->kind == Kind::boolean)
        return error_at("is not a type to cast to", "compare instead: VALUE != 0");
    if (!type->scalar())
        return error_at(fmt::format("is neither an integer nor a pointer: it is {}", type->name),
                        fmt::format("a pointer to it is ({} *)", cast.type.text));
    return type;
}

Result<FunctionValue> OperandReader::resolve_cast(const Expression& expression) const {
    const Expression& inner = *expression.operands[0];
    auto type = named_type(expression);
    if (!type)
        return type.error();
    auto value = resolve_number(inner);
    if (!value)
        return value;
    Place& place = value->place;
    value->meaning.reset();
    const uint64_t has = place.bits ? place.bits->size : 8 * place.type.size;
    const uint64_t wanted = 8 * type->size;
    if (wanted > has) {
        const bool is_signed = place.type.is_signed;
        auto narrow = operand(inner, *std::move(value));
        if (!narrow)
            return narrow.error();
        value = made_of(WIRE_BASE_COMPUTED, {WIRE_ADD, *std::move(narrow), {}, 0},
                        number_type(is_signed));
    } else if (value->place.bits) {
        value->place.bits->size = wanted;
    }
    value->place.type = *std::move(type);
    return value;
}

} // namespace auger
