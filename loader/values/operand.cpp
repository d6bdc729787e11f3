// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace auger {
namespace {

using Kind = Expression::Kind;

constexpr unsigned position_limit = 255;

// The number of `argN`.
std::optional<unsigned> position_of(std::string_view name) {
    if (!name.starts_with("arg") || name.size() < 4 || name.size() > 6 ||
        (name[3] == '0' && name.size() > 4))
        return std::nullopt;
    unsigned number = 0;
    const char* end = name.data() + name.size();
    const auto [last, failure] = std::from_chars(name.data() + 3, end, number);
    if (failure != std::errc() || last != end || number > position_limit)
        return std::nullopt;
    return number;
}

ValueFormat::Kind format_kind(const ValueType& type) {
    switch (type.kind) {
    case ValueType::Kind::word:
        return ValueFormat::Kind::word;
    case ValueType::Kind::boolean:
        return ValueFormat::Kind::boolean;
    case ValueType::Kind::character:
        return ValueFormat::Kind::character;
    case ValueType::Kind::enumeration:
        return ValueFormat::Kind::enumeration;
    case ValueType::Kind::pointer:
        return ValueFormat::Kind::pointer;
    default:
        return type.is_signed ? ValueFormat::Kind::signed_number
                              : ValueFormat::Kind::unsigned_number;
    }
}

} // namespace

Error OperandReader::error(const Expression& expression, std::string cause,
                           std::string hint) const {
    return expression_error(text_, expression.at, std::move(cause), std::move(hint));
}

Result<FunctionValue> OperandReader::resolve_name(const Expression& expression) {
    const std::string& name = expression.text;
    Result<FunctionValue> found = name == "ret"     ? values_.result()
                                  : name == "errno" ? values_.error_number()
                                                    : values_.named(name);
    // A parameter may be called arg0, too.
    if (const auto position = position_of(name); position && !found)
        found = values_.position(*position);
    if (!found)
        return error(expression, found.error().cause, found.error().hint);
    return found;
}

Result<FunctionValue> OperandReader::resolve(const Expression& expression) {
    switch (expression.kind) {
    case Kind::name:
        return resolve_name(expression);
    case Kind::number:
    case Kind::string:
        return error(expression, "is no value of a call", "such as arg0, req->len, ret");
    case Kind::string_at:
        return error(expression, "is a string, which has no parts");
    default:
        return error(expression, "is a condition where a value is wanted");
    }
}

Result<Operand> OperandReader::read_string(const Expression& expression) {
    const Expression& inner = *expression.operands[0];
    auto value = resolve(inner);
    if (!value)
        return value.error();
    Place& place = value->place;
    if (place.type.kind != ValueType::Kind::word && place.type.kind != ValueType::Kind::pointer)
        return error(inner, fmt::format("is no pointer: it is {}", place.type.name));
    Operand operand;
    if (auto objection = to_fetch(place, true, WIRE_STRING, operand.fetch))
        return error(inner, *std::move(objection));
    operand.format.kind = ValueFormat::Kind::string;
    operand.type = place.type;
    return operand;
}

Result<Operand> OperandReader::read(const Expression& expression) {
    if (expression.kind == Kind::string_at)
        return read_string(expression);
    auto value = resolve(expression);
    if (!value)
        return value.error();
    const Place& place = value->place;
    Operand operand;
    if (auto objection = to_fetch(place, false, 0, operand.fetch))
        return error(expression, *std::move(objection));
    operand.type = place.type;
    operand.bits = place.bits ? place.bits->size : 8 * place.type.size;
    operand.format.kind = value->meaning.value_or(format_kind(place.type));
    operand.format.size = static_cast<uint8_t>(place.type.size);
    return operand;
}

} // namespace auger
