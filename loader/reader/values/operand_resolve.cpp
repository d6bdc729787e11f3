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
constexpr const char* needs_type =
    "with debug information, name its type: ((struct request *)arg0)->len";

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

// An address of which is not known of what.
bool leads_anywhere(const ValueType& type) {
    return type.kind == Kind::word || (type.kind == Kind::pointer && !has_pointee(type));
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
        case Expression::Kind::pointee:
        case Expression::Kind::element:
            return resolve_element(expression);
        case Expression::Kind::address:
            return resolve_address(expression);
        case Expression::Kind::cast:
            return resolve_cast(expression);
        case Expression::Kind::arithmetic:
            return resolve_arithmetic(expression);
        case Expression::Kind::number:
        case Expression::Kind::string:
            return error(expression, "is not a value of a call", "such as arg0, req->len, ret");
        case Expression::Kind::string_at:
        case Expression::Kind::go_label:
            return error(expression, "is a string, not a number or pointer");
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
    else if (name == "task" && !found) // likewise
        found = values_.task();
    if (!found)
        if (auto context = values_.context(name))
            return *std::move(context);
    if (!found)
        return at(expression, found.error());
    return found;
}

Result<FunctionValue> OperandReader::resolve_member(const Expression& expression) const {
    const Expression& owner = *expression.operands[0];
    if (values_.has_fields() && owner.kind == Expression::Kind::name && owner.text == "args") {
        auto field = values_.field(expression.text);
        if (!field)
            return expression_error(text_, expression.name_at, field.error().cause,
                                    field.error().hint);
        return field;
    }
    auto value = resolve(owner);
    if (!value)
        return value;
    Place& place = value->place;
    if (leads_anywhere(place.type))
        return error(owner, "is of a type that is not known, so that it has no members",
                     needs_type);
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

// What has no type leads to 8 bytes of which nothing more is known.
Result<FunctionValue> OperandReader::as_pointer(const Expression& expression,
                                                FunctionValue value) const {
    Place& place = value.place;
    if (place.type.kind == Kind::array) {
        if (has_dimensions(place.type))
            return error(expression, "has several dimensions, which cannot be indexed");
        if (auto objection = take_address(place, pointer_to(element(place.type))))
            return error(expression, *std::move(objection));
        value.meaning.reset();
    } else if (leads_anywhere(place.type)) {
        ValueType word;
        word.name = "8 bytes";
        place.type = pointer_to(word);
    } else if (place.type.kind != Kind::pointer) {
        return error(expression,
                     fmt::format("is neither a pointer nor an array: it is {}", place.type.name),
                     place.type.size == 8 ? "as a pointer it is (u64 *)VALUE" : "");
    }
    return value;
}

Result<FunctionValue> OperandReader::follow(const Expression& pointer, FunctionValue value) const {
    ValueType target = pointee(value.place.type);
    if (target.size == 0 || target.size > INT32_MAX)
        return error(pointer, fmt::format("leads to {}, which cannot be read", target.name),
                     target.kind == Kind::nothing ? "say as what: *(u64 *)POINTER" : "");
    if (auto objection = go_through(value.place, std::move(target)))
        return error(pointer, *std::move(objection));
    value.meaning.reset();
    return value;
}

// *p is p[0].
Result<FunctionValue> OperandReader::resolve_element(const Expression& expression) const {
    const Expression& owner = *expression.operands[0];
    const bool first = expression.kind == Expression::Kind::pointee;
    auto value = resolve(owner);
    if (!value)
        return value;
    if (!first && expression.operands[1]->kind != Expression::Kind::number) {
        auto sum = plus_index(owner, *std::move(value), *expression.operands[1]);
        if (!sum)
            return sum;
        return follow(owner, *std::move(sum));
    }
    const auto index = first ? 0 : static_cast<int64_t>(expression.operands[1]->number);
    if (value->place.type.kind != Kind::array) {
        auto pointer = as_pointer(owner, *std::move(value));
        value = pointer ? follow(owner, *std::move(pointer)) : pointer.error();
        if (!value)
            return value;
        return go_to_element(expression, *std::move(value), index);
    }
    // Of an array in a register, too.
    const ValueType array = value->place.type, part = element(array);
    if (has_dimensions(array))
        return error(owner, "has several dimensions, which cannot be indexed");
    if (part.size == 0 || part.size > INT32_MAX)
        return error(owner, fmt::format("leads to {}, which cannot be read", part.name));
    if (array.size && (index < 0 || static_cast<uint64_t>(index) >= array.size / part.size))
        return error(expression,
                     fmt::format("is beyond the array's {} elements", array.size / part.size));
    value->place.type = part;
    return go_to_element(expression, *std::move(value), index);
}

// From the first one, of the place's type.
Result<FunctionValue> OperandReader::go_to_element(const Expression& expression,
                                                   FunctionValue value, int64_t index) const {
    ValueType part = value.place.type;
    int64_t offset;
    if (__builtin_mul_overflow(index, static_cast<int64_t>(part.size), &offset))
        return error(expression, "lies too far away");
    if (auto objection = go_to_member(value.place, offset, std::move(part)))
        return error(expression, *std::move(objection));
    value.meaning.reset();
    return value;
}

} // namespace auger
