// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a class is copied bit by bit when it is passed. Clang says so; with GCC it follows from
// what the class declares: virtual functions, a destructor, constructors that copy or move, of its
// own or of its parts.
#include "loader/reader/values/dwarf_attribute.h"
#include "loader/reader/values/dwarf_types.h"

#include <dwarf.h>

namespace auger {
namespace {

using Kind = ValueType::Kind;

constexpr unsigned part_depth_limit = 16; // of parts within parts
constexpr size_t part_limit = 20'000;     // of all parts

// A constructor of the class that takes a reference to another object of it.
bool copies(Dwarf_Die function, const ValueType& structure) {
    bool found = false;
    size_t parameters = 0;
    for_each_child(function, [&](Dwarf_Die child) {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter || dwarf_flag(child, DW_AT_artificial))
            return true;
        const ValueType type = type_of(child);
        if (++parameters == 1 && is_reference(type)) {
            const ValueType target = pointee(type);
            found = target.die.addr && target.die.addr == structure.die.addr;
        }
        return found;
    });
    return found;
}

class Passing {
  public:
    PassedBy of(const ValueType& structure, unsigned depth = 0) {
        switch (dwarf_number(structure.die, DW_AT_calling_convention).value_or(0)) {
        case DW_CC_pass_by_value:
            return PassedBy::value;
        case DW_CC_pass_by_reference:
            return PassedBy::reference;
        }
        if (depth > part_depth_limit || dwarf_flag(structure.die, DW_AT_declaration))
            return PassedBy::unknown;
        PassedBy whole = PassedBy::value;
        for_each_child(structure.die, [&](Dwarf_Die child) {
            const PassedBy part =
                ++visited_ > part_limit ? PassedBy::unknown : of_part(child, structure, depth);
            if (part != PassedBy::value)
                whole = part;
            return part == PassedBy::value;
        });
        return whole;
    }

  private:
    PassedBy of_part(Dwarf_Die child, const ValueType& structure, unsigned depth) {
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
            return is_special(child, structure) ? PassedBy::reference : PassedBy::value;
        case DW_TAG_inheritance:
        case DW_TAG_member: {
            if (dwarf_flag(child, DW_AT_external) || dwarf_flag(child, DW_AT_declaration))
                return PassedBy::value; // static
            if (dwarf_name(child).starts_with("_vptr") ||
                dwarf_number(child, DW_AT_virtuality).value_or(0) != 0)
                return PassedBy::reference;
            ValueType type = type_of(child);
            for (unsigned i = 0; type.kind == Kind::array && i < part_depth_limit; ++i)
                type = element(type);
            return type.kind == Kind::structure ? of(type, depth + 1) : PassedBy::value;
        }
        default:
            return PassedBy::value;
        }
    }

    // A destructor, or a constructor that copies or moves, that is written down.
    static bool is_special(Dwarf_Die function, const ValueType& structure) {
        if (dwarf_flag(function, DW_AT_artificial) || dwarf_flag(function, DW_AT_deleted) ||
            dwarf_number(function, DW_AT_defaulted) == DW_DEFAULTED_in_class)
            return false;
        if (dwarf_number(function, DW_AT_virtuality).value_or(0) != DW_VIRTUALITY_none)
            return true;
        const std::string name = dwarf_name(function);
        const std::string own = dwarf_name(structure.die);
        return name.starts_with('~') ||
               (name == own.substr(0, own.find('<')) && copies(function, structure));
    }

    size_t visited_ = 0;
};

} // namespace

PassedBy passed_by(const ValueType& structure) {
    return Passing().of(structure);
}

} // namespace auger
