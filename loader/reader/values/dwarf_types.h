// SPDX-License-Identifier: GPL-3.0-or-later
// Types as DWARF describes them. All of it may lie or be damaged: chains and counts are bounded,
// and what makes no sense is of kind `other`.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/values/place.h"
#include "loader/reader/values/value_type.h"

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace auger {

// Of what has a DW_AT_type (a parameter, a member, a function: its result); without one: `nothing`.
ValueType type_of(Dwarf_Die holder);
// That a DIE is itself.
ValueType type_at(Dwarf_Die type);

bool is_reference(const ValueType& type);
// Whether it is a pointer of which is known what it leads to.
bool has_pointee(const ValueType& type);
// Of a pointer or reference.
ValueType pointee(const ValueType& pointer);
ValueType element(const ValueType& array);
ValueType pointer_to(const ValueType& target);
// `const char*`, which is a string by convention.
bool is_constant_text(const ValueType& pointer);
// char, of either sign.
bool is_text_unit(const ValueType& type);

std::vector<std::pair<int64_t, std::string>> enumerators(const ValueType& enumeration);

struct TypeMember {
    int64_t offset = 0; // bytes
    ValueType type;
    std::optional<BitField> bits{};
};

// Also of anonymous members and base classes. Errors have cause and hint.
Result<TypeMember> find_member(const ValueType& structure, const std::string& name);

// Every piece of data in it, to the innermost; false when there are too many, or some that are not
// understood.
struct TypeLeaf {
    int64_t offset;
    ValueType type;
};
bool flatten(const ValueType& type, std::vector<TypeLeaf>& leaves);
// Whether it is an array of several elements, or a part of it is.
bool holds_array(const ValueType& type);

// How C++ passes it: by reference what cannot be copied bit by bit.
enum class PassedBy : uint8_t { value, reference, unknown };
PassedBy passed_by(const ValueType& structure);

} // namespace auger
