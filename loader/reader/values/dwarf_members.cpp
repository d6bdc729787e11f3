// SPDX-License-Identifier: GPL-3.0-or-later
// What structures, classes and unions are made of.
#include "loader/probes/edit_distance.h"
#include "loader/reader/values/dwarf_attribute.h"
#include "loader/reader/values/dwarf_definition.h"
#include "loader/reader/values/dwarf_types.h"
#include "loader/reader/values/names.h"

#include <dwarf.h>
#include <fmt/format.h>

namespace auger {
namespace {

using Kind = ValueType::Kind;

constexpr unsigned depth_limit = 16;   // of members within members
constexpr size_t visit_limit = 20'000; // members looked at
constexpr size_t leaf_limit = 1'000;

// Where a member lies in what holds it; nothing when that is only known at run time.
std::optional<int64_t> member_offset(Dwarf_Die member) {
    Dwarf_Attribute attribute;
    if (!dwarf_attr(&member, DW_AT_data_member_location, &attribute))
        return 0; // of a union, or a bit-field by DW_AT_data_bit_offset
    Dwarf_Word number;
    if (dwarf_formudata(&attribute, &number) == 0)
        return number <= INT32_MAX ? std::optional<int64_t>(number) : std::nullopt;
    Dwarf_Op* operations;
    size_t count;
    if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1 ||
        operations[0].atom != DW_OP_plus_uconst || operations[0].number > INT32_MAX)
        return std::nullopt;
    return static_cast<int64_t>(operations[0].number);
}

// False: it claims what cannot be.
bool read_bits(Dwarf_Die die, TypeMember& member) {
    const auto size = dwarf_number(die, DW_AT_bit_size);
    if (!size)
        return true;
    BitField bits{0, *size, member.type.size};
    if (const auto first = dwarf_number(die, DW_AT_data_bit_offset)) {
        bits.first = *first;
    } else if (const auto from_top = dwarf_number(die, DW_AT_bit_offset)) {
        // Before DWARF 4: counted from the highest bit of a unit of this many bytes.
        const uint64_t unit = dwarf_number(die, DW_AT_byte_size).value_or(member.type.size);
        if (unit > 8 || *from_top + *size > 8 * unit)
            return false;
        bits.first = 8 * unit - *from_top - *size;
    }
    if (bits.size == 0 || bits.size > 64 || bits.first > INT32_MAX)
        return false;
    member.bits = bits;
    return true;
}

class MemberSearch {
  public:
    explicit MemberSearch(const std::string& name) : name_(name) {}

    // True when it was found, or cannot be reached (then `problem`).
    bool search(const ValueType& structure, int64_t offset, unsigned depth) {
        if (depth > depth_limit)
            return false;
        bool done = false;
        for_each_child(structure.die, [&](Dwarf_Die child) {
            if (++visited_ > visit_limit)
                return false;
            done = visit(child, offset, depth);
            return !done;
        });
        return done;
    }

    TypeMember found;
    std::string problem;
    std::vector<std::string> names; // of those there are

  private:
    bool visit(Dwarf_Die child, int64_t offset, unsigned depth) {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variable && dwarf_name(child) == name_) {
            problem = "is static, and lies in no object";
            return true;
        }
        if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
            return false;
        const std::string name = dwarf_name(child);
        const bool inner = tag == DW_TAG_inheritance || name.empty();
        if (!inner)
            names.push_back(name);
        if (!inner && name != name_)
            return false;
        const auto at = member_offset(child);
        TypeMember member{offset + at.value_or(0), type_of(child), {}};
        // What lies behind a place that is not known may be another member of that name.
        if (inner) {
            const bool done = member.type.kind == Kind::structure &&
                              search(member.type, member.offset, depth + 1);
            if (done && !at)
                problem = "is in a virtual base class, whose place only the program knows";
            return done;
        }
        if (dwarf_flag(child, DW_AT_external) || dwarf_flag(child, DW_AT_declaration))
            problem = "is static, and lies in no object";
        else if (!at || !read_bits(child, member))
            problem = "lies at a place that the debug information does not say";
        found = std::move(member);
        return true;
    }

    const std::string& name_;
    size_t visited_ = 0;
};

bool flatten_into(const ValueType& type, int64_t offset, unsigned depth,
                  std::vector<TypeLeaf>& leaves) {
    if (depth > depth_limit || leaves.size() >= leaf_limit)
        return false;
    if (type.kind == Kind::array) {
        const ValueType part = element(type);
        const uint64_t count = part.size ? type.size / part.size : 0;
        if (count > 16)
            return false;
        for (uint64_t i = 0; i < count; ++i)
            if (!flatten_into(part, offset + static_cast<int64_t>(i * part.size), depth + 1,
                              leaves))
                return false;
        return true;
    }
    if (type.kind != Kind::structure) {
        leaves.push_back({offset, type});
        return type.kind != Kind::nothing;
    }
    bool whole = !dwarf_flag(type.die, DW_AT_declaration);
    for_each_child(type.die, [&](Dwarf_Die child) {
        const int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            dwarf_flag(child, DW_AT_external) || dwarf_flag(child, DW_AT_declaration))
            return true;
        const auto at = member_offset(child);
        TypeMember member{0, type_of(child), {}};
        whole = at && read_bits(child, member);
        if (whole && member.bits)
            leaves.push_back(
                {offset + *at + static_cast<int64_t>(member.bits->first / 8), member.type});
        else
            whole = whole && flatten_into(member.type, offset + *at, depth + 1, leaves);
        return whole && leaves.size() < leaf_limit;
    });
    return whole && leaves.size() < leaf_limit;
}

bool has_array_in(const ValueType& type, unsigned depth) {
    if (depth > depth_limit)
        return true;
    if (type.kind == Kind::array) {
        const ValueType part = element(type);
        return type.size > part.size || has_array_in(part, depth + 1);
    }
    bool found = false;
    if (type.kind == Kind::structure)
        for_each_child(type.die, [&](Dwarf_Die child) {
            found = dwarf_tag(&child) == DW_TAG_member && has_array_in(type_of(child), depth + 1);
            return !found;
        });
    return found;
}

} // namespace

Result<TypeMember> find_member(const ValueType& structure, const std::string& name) {
    ValueType whole = structure;
    if (dwarf_flag(structure.die, DW_AT_declaration)) {
        auto definition = definition_of(structure);
        if (!definition)
            return Error{
                {},
                {},
                fmt::format("{} is only declared, and its members are not known", structure.name),
                {}};
        whole.die = *definition;
    }
    MemberSearch search(name);
    if (!search.search(whole, 0, 0))
        return Error{{},
                     {},
                     fmt::format("{} has no member \"{}\"", structure.name, name),
                     known_names(name, search.names)};
    if (!search.problem.empty())
        return Error{{}, {}, std::move(search.problem), {}};
    return std::move(search.found);
}

bool flatten(const ValueType& type, std::vector<TypeLeaf>& leaves) {
    return flatten_into(type, 0, 0, leaves);
}

bool holds_array(const ValueType& type) {
    return has_array_in(type, 0);
}

} // namespace auger
