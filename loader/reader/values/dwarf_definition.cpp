// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/dwarf_definition.h"

#include "loader/reader/dwarf/dwarf_walk.h"
#include "loader/reader/values/dwarf_attribute.h"
#include "loader/reader/values/type_search.h"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace auger {
namespace {

// Names of what is around the type, outermost first, and its own; empty: it is inside of something
// without a name, or a function.
std::vector<std::string> path_of(Dwarf_Die type) {
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(&type, &scopes);
    const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(scopes, &std::free);
    std::vector<std::string> path;
    for (int i = count - 1; i >= 0; --i) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit || tag == DW_TAG_type_unit)
            continue;
        path.push_back(dwarf_name(scopes[i]));
        if (path.back().empty() || !(tag == DW_TAG_namespace || is_structure(tag)))
            return {};
    }
    return path;
}

} // namespace

std::optional<Dwarf_Die> definition_of(const ValueType& declared) {
    std::vector<std::string> path = path_of(declared.die);
    if (path.empty() || path.size() > die_depth_limit)
        return std::nullopt;
    TypeSearch search(std::move(path), is_structure);
    search.look_in_all(dwarf_cu_getdwarf(declared.die.cu));
    return search.found();
}

} // namespace auger
