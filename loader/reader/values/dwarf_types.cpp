// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/dwarf_types.h"

#include "loader/reader/values/dwarf_attribute.h"

#include <dwarf.h>

#include <bit>

namespace auger {
namespace {

using Kind = ValueType::Kind;

constexpr unsigned chain_limit = 64; // typedefs and qualifiers
constexpr unsigned name_depth = 4;   // of pointers to pointers in a type's name
constexpr size_t enumerator_limit = 10'000;

bool is_qualifier(int tag) {
    switch (tag) {
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_immutable_type:
    case DW_TAG_packed_type:
    case DW_TAG_shared_type:
        return true;
    default:
        return false;
    }
}

std::optional<Dwarf_Die> referred(Dwarf_Die holder, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Die die;
    if (!holder.addr || !dwarf_attr_integrate(&holder, name, &attribute) ||
        !dwarf_formref_die(&attribute, &die))
        return std::nullopt;
    return die;
}

// Without typedefs and qualifiers; nothing for void, or a chain without end.
std::optional<Dwarf_Die> stripped(std::optional<Dwarf_Die> die) {
    for (unsigned i = 0; die && i < chain_limit; ++i) {
        const int tag = dwarf_tag(&*die);
        // A type in a unit of its own is found by its signature.
        if (auto whole = referred(*die, DW_AT_signature))
            die = whole;
        else if (is_qualifier(tag) || tag == DW_TAG_typedef)
            die = referred(*die, DW_AT_type);
        else
            return die;
    }
    return std::nullopt;
}

const char* word_of(int tag) {
    switch (tag) {
    case DW_TAG_union_type:
        return "union ";
    case DW_TAG_enumeration_type:
        return "enum ";
    case DW_TAG_class_type:
        return "class ";
    case DW_TAG_structure_type:
        return "struct ";
    default:
        return "";
    }
}

std::string type_name(std::optional<Dwarf_Die> die, unsigned depth = 0) {
    for (unsigned i = 0; die && i < chain_limit; ++i) {
        const int tag = dwarf_tag(&*die);
        const std::string name = dwarf_name(*die);
        if (!name.empty())
            return word_of(tag) + name;
        if (*word_of(tag))
            return std::string("an anonymous ") + word_of(tag);
        const bool pointer = tag == DW_TAG_pointer_type, array = tag == DW_TAG_array_type;
        const bool reference = tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
        if (pointer || reference || array)
            return (depth < name_depth ? type_name(referred(*die, DW_AT_type), depth + 1) : "...") +
                   (pointer     ? " *"
                    : reference ? " &"
                                : "[]");
        if (tag == DW_TAG_subroutine_type)
            return "a function";
        die = referred(*die, DW_AT_type);
    }
    return "void";
}

// Sizes and signs of a base type.
void read_base_type(Dwarf_Die die, ValueType& type) {
    const uint64_t encoding = dwarf_number(die, DW_AT_encoding).value_or(0);
    type.is_signed = false;
    switch (encoding) {
    case DW_ATE_boolean:
        type.kind = Kind::boolean;
        break;
    case DW_ATE_signed_char:
        type.is_signed = true;
        [[fallthrough]];
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        type.kind = Kind::character;
        break;
    case DW_ATE_signed:
        type.is_signed = true;
        [[fallthrough]];
    case DW_ATE_unsigned:
    case DW_ATE_address:
        type.kind = Kind::integer;
        break;
    case DW_ATE_float:
    case DW_ATE_complex_float:
    case DW_ATE_imaginary_float:
    case DW_ATE_decimal_float:
        type.kind = Kind::floating;
        return;
    default:
        type.kind = Kind::other;
        return;
    }
    if (!std::has_single_bit(type.size) || type.size > 8)
        type.kind = Kind::other;
}

void read_enumeration(Dwarf_Die die, ValueType& type) {
    type.kind = Kind::enumeration;
    type.is_signed = false;
    if (const auto underlying = stripped(referred(die, DW_AT_type))) {
        const uint64_t encoding = dwarf_number(*underlying, DW_AT_encoding).value_or(0);
        type.is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    } else {
        for_each_child(die, [&](Dwarf_Die child) {
            type.is_signed = dwarf_signed_number(child, DW_AT_const_value).value_or(0) < 0;
            return !type.is_signed;
        });
    }
    if (!std::has_single_bit(type.size) || type.size > 8)
        type.kind = Kind::other;
}

ValueType read_type(std::optional<Dwarf_Die> declared) {
    ValueType type;
    type.name = type_name(declared);
    type.is_signed = false;
    type.size = 0;
    auto die = stripped(declared);
    if (!die) {
        type.kind = declared && stripped(declared) ? Kind::other : Kind::nothing;
        return type;
    }
    type.die = *die;
    Dwarf_Word size;
    if (dwarf_aggregate_size(&*die, &size) == 0)
        type.size = size;
    switch (dwarf_tag(&*die)) {
    case DW_TAG_base_type:
        read_base_type(*die, type);
        break;
    case DW_TAG_unspecified_type: // nullptr_t
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        type.kind = Kind::pointer;
        type.size = 8;
        break;
    case DW_TAG_enumeration_type:
        read_enumeration(*die, type);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        type.kind = Kind::structure;
        break;
    case DW_TAG_array_type:
        type.kind = Kind::array;
        break;
    default:
        type.kind = Kind::other;
    }
    return type;
}

} // namespace

ValueType type_of(Dwarf_Die holder) {
    return read_type(referred(holder, DW_AT_type));
}

ValueType type_at(Dwarf_Die type) {
    return read_type(type);
}

bool is_reference(const ValueType& type) {
    Dwarf_Die die = type.die;
    const int tag = die.addr ? dwarf_tag(&die) : 0;
    return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool has_pointee(const ValueType& type) {
    return type.kind == Kind::pointer && (type.die.addr || type.target);
}

ValueType pointee(const ValueType& pointer) {
    return pointer.target ? *pointer.target : type_of(pointer.die);
}
ValueType element(const ValueType& array) {
    return array.target ? *array.target : type_of(array.die);
}

ValueType pointer_to(const ValueType& target) {
    ValueType type;
    type.kind = Kind::pointer;
    type.size = 8;
    type.is_signed = false;
    type.name = target.name + " *";
    type.target = std::make_shared<const ValueType>(target);
    return type;
}

bool is_text_unit(const ValueType& type) {
    return type.kind == Kind::character && type.size == 1;
}

bool is_constant_text(const ValueType& pointer) {
    auto die = pointer.kind == Kind::pointer ? referred(pointer.die, DW_AT_type) : std::nullopt;
    bool constant = false;
    for (unsigned i = 0; die && i < chain_limit; ++i) {
        const int tag = dwarf_tag(&*die);
        if (tag == DW_TAG_base_type)
            return constant && dwarf_name(*die) == "char";
        if (!is_qualifier(tag))
            return false; // a typedef is no plain char
        constant = constant || tag == DW_TAG_const_type;
        die = referred(*die, DW_AT_type);
    }
    return false;
}

std::vector<std::pair<int64_t, std::string>> enumerators(const ValueType& enumeration) {
    std::vector<std::pair<int64_t, std::string>> found;
    if (enumeration.kind != Kind::enumeration)
        return found;
    const unsigned bits = static_cast<unsigned>(8 * enumeration.size);
    for_each_child(enumeration.die, [&](Dwarf_Die child) {
        const auto number = dwarf_signed_number(child, DW_AT_const_value);
        const std::string name = dwarf_name(child);
        if (number && !name.empty()) {
            // As a value of its size reads.
            uint64_t value = static_cast<uint64_t>(*number);
            if (bits < 64) {
                value &= (uint64_t{1} << bits) - 1;
                if (enumeration.is_signed && value >> (bits - 1))
                    value |= ~uint64_t{0} << bits;
            }
            found.emplace_back(static_cast<int64_t>(value), name);
        }
        return found.size() < enumerator_limit;
    });
    return found;
}

} // namespace auger
