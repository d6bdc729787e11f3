// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/type_search.h"

#include "loader/reader/dwarf/dwarf_units.h"
#include "loader/reader/dwarf/dwarf_walk.h"
#include "loader/reader/values/dwarf_attribute.h"

#include <dwarf.h>

#include <string_view>
#include <utility>

namespace auger {
namespace {

// Compilers do not agree on blanks: map<int, int>, map<int,int>.
bool same_name(std::string_view a, std::string_view b) {
    while (true) {
        while (a.starts_with(' '))
            a.remove_prefix(1);
        while (b.starts_with(' '))
            b.remove_prefix(1);
        if (a.empty() || b.empty())
            return a.empty() && b.empty();
        if (a.front() != b.front())
            return false;
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
}

} // namespace

bool is_structure(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

TypeSearch::TypeSearch(std::vector<std::string> path, Accept accept)
    : path_(std::move(path)), accept_(accept) {}

void TypeSearch::look_in_all(Dwarf* dwarf) {
    for_each_unit(dwarf, [&](Dwarf_Die unit, uint8_t) {
        look_in(unit);
        return true;
    });
}

// Within a unit, or what bears the first `depth` names.
void TypeSearch::look_in(Dwarf_Die parent, size_t depth) {
    const bool last = depth + 1 == path_.size();
    Dwarf_Die child;
    bool more = dwarf_child(&parent, &child) == 0;
    for (; more && ++visited_ < die_limit; more = dwarf_siblingof(&child, &child) == 0) {
        const int tag = dwarf_tag(&child);
        if (last ? !accept_(tag) : !is_structure(tag) && tag != DW_TAG_namespace)
            continue;
        const char* name = dwarf_diename(&child);
        if (!name || !same_name(path_[depth], name))
            continue;
        if (!last)
            look_in(child, depth + 1);
        else if (!dwarf_flag(child, DW_AT_declaration))
            add(child);
    }
}

void TypeSearch::add(Dwarf_Die definition) {
    if (!found_)
        found_ = definition;
    for (unsigned attribute : {DW_AT_byte_size, DW_AT_decl_line})
        differ_ =
            differ_ || dwarf_number(*found_, attribute) != dwarf_number(definition, attribute);
}

} // namespace auger
