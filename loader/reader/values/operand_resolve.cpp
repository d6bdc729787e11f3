// SPDX-License-Identifier: GPL-3.0-or-later
// Names, members, pointers and elements: to the place that they mean. A reference stands for what
// it refers to, as in C++.
#include "loader/reader/values/dwarf_attribute.h"
#include "loader/reader/values/dwarf_types.h"
#include "loader/reader/values/operand.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace auger {
namespace {

using Kind = ValueType::Kind;

constexpr unsigned position_limit = 255;
constexpr const char* needs_types = "that takes debug information; arg0, str(arg1), ret do not";

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

Objection follow_reference(FunctionValue& value) {
    if (!is_reference(value.place.type))
        return std::nullopt;
    return go_through(value.place, pointee(value.place.type));
}

bool has_dimensions(const ValueType& array) {
    unsigned count = 0;
    for_each_child(array.die, [&](Dwarf_Die child) {
        count += dwarf_tag(&child) == DW_TAG_subrange_type;
        return count < 2;
    });
    return count >= 2;
}

} // namespace

Result<FunctionValue> OperandReader::resolve(const Expression& expression) const {
    auto value = [&]() -> Result<FunctionValue> {
        switch (expression.kind) {
        case Expression::Kind::name:
            return resolve_name(expression);
        case Expression::Kind::member:
            return resolve_member(expression);
        case Expression::Kind::pointee: // *p is p[0]
        case Expression::Kind::element:
            return resolve_element(expression);
        case Expression::Kind::number:
        case Expression::Kind::string:
            return error(expression, "is no value of a call", "such as arg0, req->len, ret");
        case Expression::Kind::string_at:
            return error(expression, "is a string, which has no parts");
        default:
            return error(expression, "is a condition where a value is wanted");
        }
    }();
    if (value)
        if (auto objection = follow_reference(*value))
            return error(expression, *std::move(objection));
    return value;
}

Result<FunctionValue> OperandReader::resolve_name(const Expression& expression) const {
    const std::string& name = expression.text;
    Result<FunctionValue> found = name == "ret"     ? values_.result()
                                  : name == "errno" ? values_.error_number()
                                                    : values_.named(name);
    // A parameter may be called arg0, too.
    if (const auto position = position_of(name); position && !found)
        found = values_.position(*position);
    if (!found)
        return at(expression, found.error());
    return found;
}

Result<FunctionValue> OperandReader::resolve_member(const Expression& expression) const {
    const Expression& owner = *expression.operands[0];
    auto value = resolve(owner);
    if (!value)
        return value;
    Place& place = value->place;
    if (place.type.kind == Kind::word || (place.type.kind == Kind::pointer && !place.type.die.addr))
        return error(owner, "is of a type that is not known, so that it has no members",
                     needs_types);
    if (place.type.kind == Kind::pointer)
        if (auto objection = go_through(place, pointee(place.type)))
            return error(owner, *std::move(objection));
    if (place.type.kind != Kind::structure)
        return error(owner, fmt::format("has no members: it is {}", place.type.name));
    auto member = find_member(place.type, expression.text);
    if (!member)
        return expression_error(text_, expression.name_at, member.error().cause,
                                member.error().hint);
    if (auto objection = go_to_member(place, member->offset, member->type))
        return error(expression, *std::move(objection));
    place.bits = member->bits;
    value->meaning.reset();
    return value;
}

Result<FunctionValue> OperandReader::resolve_element(const Expression& expression) const {
    const Expression& owner = *expression.operands[0];
    auto value = resolve(owner);
    if (!value)
        return value;
    Place& place = value->place;
    const bool array = place.type.kind == Kind::array;
    if (place.type.kind == Kind::word || (place.type.kind == Kind::pointer && !place.type.die.addr))
        return error(owner, "is of a type that is not known, so that it leads nowhere",
                     needs_types);
    if (!array && place.type.kind != Kind::pointer)
        return error(owner, fmt::format("is no pointer and no array: it is {}", place.type.name));
    if (array && has_dimensions(place.type))
        return error(owner, "has several dimensions, which cannot be indexed");
    const ValueType part = array ? element(place.type) : pointee(place.type);
    const auto index = static_cast<int64_t>(expression.number);
    if (part.size == 0 || part.size > INT32_MAX)
        return error(owner, fmt::format("leads to {}, which cannot be read", part.name));
    if (array && place.type.size &&
        (index < 0 || static_cast<uint64_t>(index) >= place.type.size / part.size))
        return error(expression,
                     fmt::format("is beyond the array's {} elements", place.type.size / part.size));
    if (!array)
        if (auto objection = go_through(place, part))
            return error(owner, *std::move(objection));
    int64_t offset;
    if (__builtin_mul_overflow(index, static_cast<int64_t>(part.size), &offset))
        return error(expression, "lies too far away");
    if (auto objection = go_to_member(place, offset, part))
        return error(expression, *std::move(objection));
    value->meaning.reset();
    return value;
}

} // namespace auger
