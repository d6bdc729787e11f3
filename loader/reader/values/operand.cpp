// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/operand.h"

#include "loader/reader/values/dwarf_attribute.h"
#include "loader/reader/values/dwarf_types.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

using Kind = ValueType::Kind;

Error failure(std::string cause, std::string hint = {}) {
    return {{}, {}, std::move(cause), std::move(hint), Error::Kind::usage};
}

ValueFormat::Kind format_kind(const ValueType& type) {
    switch (type.kind) {
    case Kind::word:
        return ValueFormat::Kind::word;
    case Kind::boolean:
        return ValueFormat::Kind::boolean;
    case Kind::character:
        return ValueFormat::Kind::character;
    case Kind::enumeration:
        return ValueFormat::Kind::enumeration;
    case Kind::pointer:
        return ValueFormat::Kind::pointer;
    default:
        return type.is_signed ? ValueFormat::Kind::signed_number
                              : ValueFormat::Kind::unsigned_number;
    }
}

// What to ask of a structure instead.
std::string instead_of(const ValueType& structure) {
    if (find_member(structure, "_M_dataplus"))
        return "as text it is str(...)";
    const auto unnamed = find_member(structure, std::string(64, ' ')); // says which there are
    const std::string known = unnamed ? "" : unnamed.error().hint;
    return "name one of its members" + (known.empty() ? "" : ": " + known);
}

// Why no number can be made of a value of this type.
Error no_number(const ValueType& type) {
    switch (type.kind) {
    case Kind::structure:
        return failure(fmt::format("is a {}", type.name), instead_of(type));
    case Kind::array:
        return failure(fmt::format("is an array ({})", type.name),
                       is_text_unit(element(type)) ? "as text it is str(...)"
                                                   : "name an element: items[0]");
    case Kind::floating:
        return failure(
            fmt::format("is a floating-point number ({}), which cannot be read", type.name));
    case Kind::nothing:
        return failure("is of type void");
    default:
        return failure(fmt::format("is of a type that cannot be read ({})", type.name));
    }
}

// The pointer in a std::string of libstdc++; nothing when it is none.
std::optional<FunctionValue> text_of_string(FunctionValue value) {
    for (const char* name : {"_M_dataplus", "_M_p"}) {
        if (value.place.type.kind != Kind::structure)
            return std::nullopt;
        auto member = find_member(value.place.type, name);
        if (!member || go_to_member(value.place, member->offset, member->type))
            return std::nullopt;
    }
    return value;
}

// A string of Go's, or a slice of bytes: where its bytes are, and how many. Nothing: it is neither.
struct CountedText {
    FunctionValue bytes, length;
};
std::optional<CountedText> counted_text(const FunctionValue& value) {
    const auto member = [&](const char* name) -> std::optional<FunctionValue> {
        FunctionValue part = value;
        auto found = find_member(part.place.type, name);
        if (!found || go_to_member(part.place, found->offset, found->type))
            return std::nullopt;
        return part;
    };
    if (value.place.type.kind != Kind::structure)
        return std::nullopt;
    // As Go's compiler calls them; with a dot what the program calls its own.
    const std::string type = dwarf_name(value.place.type.die);
    const bool is_slice = type.starts_with("[]");
    if (!is_slice && type != "string" && type.find('.') == type.npos)
        return std::nullopt;
    auto pointer = member(is_slice ? "array" : "str");
    auto length = pointer ? member("len") : std::nullopt;
    if (!length || !has_pointee(pointer->place.type) || pointee(pointer->place.type).size != 1 ||
        !length->place.type.scalar())
        return std::nullopt;
    return CountedText{*std::move(pointer), *std::move(length)};
}

} // namespace

Result<Operand> number_operand(FunctionValue value) {
    const Place& place = value.place;
    if (value.meaning == ValueFormat::Kind::trace_id)
        return failure("is a trace id, of 32 digits", "span_id is a number");
    if (!place.type.scalar())
        return no_number(place.type);
    Operand operand;
    if (auto objection = to_fetch(place, false, 0, operand.fetch))
        return failure(*std::move(objection));
    operand.type = place.type;
    operand.computation = place.computation;
    operand.bits = place.bits ? place.bits->size : 8 * place.type.size;
    operand.format.kind = value.meaning.value_or(format_kind(place.type));
    // It is one only when it is asked for by str().
    if (operand.format.kind == ValueFormat::Kind::string)
        operand.format.kind = ValueFormat::Kind::pointer;
    operand.format.size = static_cast<uint8_t>(place.type.size);
    operand.format.names = enumerators(place.type);
    return operand;
}

Result<Operand> string_operand(FunctionValue value) {
    Place& place = value.place;
    if (has_pointee(place.type))
        if (const ValueType target = pointee(place.type); target.kind == Kind::structure)
            if (auto objection = go_through(place, target))
                return failure(*std::move(objection));
    uint64_t most = WIRE_STRING;
    const std::string type = place.type.name;
    std::shared_ptr<const Operand> length;
    if (auto counted = counted_text(value)) {
        auto count = number_operand(std::move(counted->length));
        if (!count)
            return count;
        length = std::make_shared<const Operand>(*std::move(count));
        value = std::move(counted->bytes);
    } else if (place.type.kind == Kind::structure) {
        const auto text = text_of_string(value);
        if (!text)
            return failure(fmt::format("is a {}, which is not text", type),
                           find_member(place.type, "_M_str") ? "a string_view does not end in a NUL"
                                                             : "name one of its members");
        value = *text;
    } else if (place.type.kind == Kind::array) {
        const ValueType unit = element(place.type);
        if (unit.size != 1)
            return failure(fmt::format("is an array ({}), and no text", type));
        if (place.type.size)
            most = std::min<uint64_t>(place.type.size + 1, WIRE_STRING);
        if (auto objection = take_address(place, pointer_to(unit)))
            return failure(*std::move(objection));
    } else if (has_pointee(place.type)) {
        const ValueType target = pointee(place.type);
        if (target.kind != Kind::nothing && target.size != 1)
            return failure(fmt::format("is a pointer to {}, which is not text", target.name));
    } else if (place.type.kind != Kind::word && place.type.kind != Kind::pointer) {
        return failure(fmt::format("is not a pointer ({})", type),
                       place.type.size == 8 ? "as one it is str((char *)...)" : "");
    }
    Operand operand;
    if (auto objection = to_fetch(place, true, static_cast<uint8_t>(most), operand.fetch))
        return failure(*std::move(objection));
    if (length)
        operand.fetch.flags |= WIRE_FETCH_COUNTED;
    operand.length = std::move(length);
    operand.format.kind = ValueFormat::Kind::string;
    operand.type = place.type;
    operand.computation = place.computation;
    return operand;
}

Result<Operand> trace_operand(const FunctionValue& value) {
    Operand operand;
    if (auto objection = to_fetch(value.place, true, WIRE_STRING, operand.fetch))
        return failure(*std::move(objection));
    operand.format.kind = ValueFormat::Kind::trace_id;
    operand.type = value.place.type;
    return operand;
}

Operand go_label_operand(const std::string& key, bool at_end) {
    Operand operand;
    operand.fetch.base = WIRE_BASE_GO_LABEL;
    operand.fetch.offsets = 1;
    operand.fetch.flags = WIRE_FETCH_STRING | (at_end ? WIRE_FETCH_AT_END : 0);
    operand.fetch.size = static_cast<uint8_t>(std::min(key.size(), sizeof operand.fetch.key));
    key.copy(operand.fetch.key, operand.fetch.size);
    operand.format.kind = ValueFormat::Kind::go_label;
    return operand;
}

Error OperandReader::error(const Expression& expression, std::string cause,
                           std::string hint) const {
    return expression_error(text_, expression.at, std::move(cause), std::move(hint));
}

Error OperandReader::at(const Expression& expression, Error error) const {
    return expression_error(text_, expression.at, std::move(error.cause), std::move(error.hint));
}

Result<Operand> OperandReader::operand(const Expression& expression, FunctionValue value) const {
    auto operand = number_operand(std::move(value));
    if (!operand)
        return at(expression, operand.error());
    return operand;
}

Result<Operand> OperandReader::read(const Expression& expression) const {
    if (expression.kind == Expression::Kind::go_label) {
        if (auto has_some = values_.has_go_labels(); !has_some)
            return at(expression, has_some.error());
        return go_label_operand(expression.text, values_.is_in_go());
    }
    const bool string = expression.kind == Expression::Kind::string_at;
    const Expression& inner = string ? *expression.operands[0] : expression;
    auto value = resolve(inner);
    if (!value)
        return value.error();
    const bool trace = !string && value->meaning == ValueFormat::Kind::trace_id;
    const bool text = string || counted_text(*value);
    auto operand = text    ? string_operand(*std::move(value))
                   : trace ? trace_operand(*value)
                           : number_operand(*std::move(value));
    if (!operand)
        return at(inner, operand.error());
    return operand;
}

} // namespace auger
