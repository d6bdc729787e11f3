// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/tracepoint_values.h"

#include "loader/reader/values/dwarf_types.h"
#include "loader/reader/values/names.h"
#include "loader/reader/values/operand.h"
#include "loader/tracepoints/event_format.h"
#include "loader/tracepoints/find_tracepoints.h"
#include "loader/values/basic_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace auger {
namespace {

using Kind = ValueType::Kind;

Error no_field(std::string cause, std::string hint = {}) {
    return {{}, {}, std::move(cause), std::move(hint), Error::Kind::failed};
}

struct KernelType {
    std::string_view name;
    uint8_t size;
    bool is_signed;
};

// Of parameters of system calls, whose fields are all 8 bytes, of which only these mean something.
constexpr std::array<KernelType, 20> kernel_types{{
    {"umode_t", 2, false},     {"mode_t", 4, false},    {"uid_t", 4, false},    {"gid_t", 4, false},
    {"old_uid_t", 2, false},   {"old_gid_t", 2, false}, {"qid_t", 4, false},    {"pid_t", 4, true},
    {"clockid_t", 4, true},    {"timer_t", 4, true},    {"key_t", 4, true},     {"mqd_t", 4, true},
    {"key_serial_t", 4, true}, {"rwf_t", 4, true},      {"unsigned", 4, false}, {"u32", 4, false},
    {"s32", 4, true},          {"__s32", 4, true},      {"__u32", 4, false},    {"u8", 1, false},
}};

std::string_view without_qualifiers(std::string_view type) {
    for (const std::string_view qualifier : {"const ", "volatile "})
        while (type.starts_with(qualifier))
            type.remove_prefix(qualifier.size());
    return type;
}

ValueType integer_type(const EventField& field, uint64_t size, bool of_system_call) {
    ValueType type;
    type.kind = Kind::integer;
    type.size = size;
    type.is_signed = field.is_signed;
    type.name = field.type;
    const std::string_view name = without_qualifiers(field.type);
    const auto basic = basic_type(name);
    if (basic && basic->size == size && basic->kind == BasicType::Kind::boolean)
        type.kind = Kind::boolean;
    if (!of_system_call)
        return type;
    if (basic && basic->kind == BasicType::Kind::integer && basic->size < size) {
        type.size = basic->size;
        type.is_signed = basic->is_signed;
    } else if (const auto known = std::ranges::find(kernel_types, name, &KernelType::name);
               known != kernel_types.end() && known->size < size) {
        type.size = known->size;
        type.is_signed = known->is_signed;
    }
    return type;
}

ValueType character_type() {
    ValueType type;
    type.kind = Kind::character;
    type.size = 1;
    type.name = "char";
    return type;
}

bool is_character(std::string_view type) {
    return without_qualifiers(type) == "char";
}

// Of "const char *": "const char".
std::string_view pointed_at(std::string_view pointer) {
    pointer.remove_suffix(1);
    while (pointer.ends_with(' '))
        pointer.remove_suffix(1);
    return pointer;
}

// A system call's leads into the process's memory, all others mostly into the kernel's, of which
// nothing is read.
ValueType pointer_type(const EventField& field, bool of_system_call) {
    ValueType type;
    type.size = 8;
    type.is_signed = false;
    type.name = field.type;
    type.kind = of_system_call ? Kind::word : Kind::integer;
    if (of_system_call && is_character(pointed_at(field.type)))
        return pointer_to(character_type());
    return type;
}

Result<ValueType> type_of(const EventField& field, bool of_system_call) {
    if (field.is_array || field.dynamic) {
        ValueType type;
        type.kind = Kind::array;
        type.name =
            field.elements ? fmt::format("{}[{}]", field.type, field.elements) : field.type + "[]";
        type.size = field.dynamic ? 0 : field.size;
        if (is_character(field.type)) {
            type.target = std::make_shared<const ValueType>(character_type());
            return type;
        }
        const auto basic = basic_type(without_qualifiers(field.type));
        const uint64_t size = field.elements ? field.size / field.elements
                              : basic        ? basic->size
                                             : 0;
        if (!std::has_single_bit(size) || size > 8)
            return no_field(fmt::format("is an array of {}, whose size is not known", field.type));
        ValueType part =
            field.is_pointer() ? pointer_type(field, false) : integer_type(field, size, false);
        type.target = std::make_shared<const ValueType>(std::move(part));
        return type;
    }
    if (!std::has_single_bit(field.size) || field.size > 8)
        return no_field(
            fmt::format("is a {} of {} bytes, which is no number", field.type, field.size));
    return field.is_pointer() && field.size == 8 ? pointer_type(field, of_system_call)
                                                 : integer_type(field, field.size, of_system_call);
}

} // namespace

std::vector<std::string> tracepoint_fields(const ValueScope& scope) {
    std::vector<std::string> names;
    if (const auto format = parse_event_format(*scope.tracepoint))
        for (const EventField& field : format->fields)
            names.push_back(field.name);
    return names;
}

Result<Place> tracepoint_field(const ValueScope& scope, const std::string& name) {
    auto format = parse_event_format(*scope.tracepoint);
    if (!format)
        return no_field("the kernel's format of it is not understood: " + format.error().cause);
    const auto field = std::ranges::find(format->fields, name, &EventField::name);
    if (field == format->fields.end()) {
        const std::vector<std::string> names = tracepoint_fields(scope);
        return no_field(fmt::format("{} has no field \"{}\"", scope.function, name),
                        names.empty() ? "it has none" : known_names(name, names));
    }
    if (field->relative)
        return no_field("is of a kind that is not read (__rel_loc)");
    // "tracepoint:CATEGORY:NAME"
    const std::string_view rest =
        std::string_view(scope.function).substr(scope.function.find(':') + 1);
    auto type = type_of(*field, is_of_system_calls(rest.substr(0, rest.find(':'))));
    if (!type)
        return type.error();
    Place place;
    place.base = WIRE_BASE_RECORD;
    place.in_memory = true;
    place.offsets = {field->offset};
    place.type = *std::move(type);
    if (field->dynamic) {
        Computation where;
        where.constant = field->offset;
        place.base = WIRE_BASE_DATA_LOC;
        place.offsets = {0};
        place.computation = std::make_shared<const Computation>(std::move(where));
    }
    return place;
}

Error no_tracepoint_value(const ValueScope& scope) {
    const auto format = parse_event_format(*scope.tracepoint);
    return no_field(
        "the values of a tracepoint are its fields",
        format ? fmt::format("write args.FIELD; {} has: {}", scope.function, field_names(*format))
               : "write args.FIELD");
}

} // namespace auger
