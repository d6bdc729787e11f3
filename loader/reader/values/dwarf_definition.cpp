// SPDX-License-Identifier: GPL-3.0-or-later
// Types are told apart by their names and those of the namespaces around them. C allows one name
// for different types in different files: then nothing is known.
#include "loader/reader/values/dwarf_definition.h"

#include "loader/reader/dwarf/dwarf_walk.h"
#include "loader/reader/values/dwarf_attribute.h"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace auger {
namespace {

constexpr size_t unit_limit = 1'000'000;

bool is_structure(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

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

class Search {
  public:
    explicit Search(std::vector<std::string> path) : path_(std::move(path)) {}

    // Within a unit, or what bears the first `depth` names.
    void look_in(Dwarf_Die parent, size_t depth) {
        const bool last = depth + 1 == path_.size();
        Dwarf_Die child;
        bool more = dwarf_child(&parent, &child) == 0;
        for (; more && ++visited_ < die_limit; more = dwarf_siblingof(&child, &child) == 0) {
            const int tag = dwarf_tag(&child);
            if (!is_structure(tag) && (last || tag != DW_TAG_namespace))
                continue;
            const char* name = dwarf_diename(&child);
            if (!name || path_[depth] != name)
                continue;
            if (!last)
                look_in(child, depth + 1);
            else if (!dwarf_flag(child, DW_AT_declaration))
                add(child);
        }
    }

    std::optional<Dwarf_Die> found() const { return differ_ ? std::nullopt : found_; }

  private:
    void add(Dwarf_Die definition) {
        if (!found_)
            found_ = definition;
        for (unsigned attribute : {DW_AT_byte_size, DW_AT_decl_line})
            differ_ =
                differ_ || dwarf_number(*found_, attribute) != dwarf_number(definition, attribute);
    }

    std::vector<std::string> path_;
    uint64_t visited_ = 0;
    std::optional<Dwarf_Die> found_;
    bool differ_ = false;
};

} // namespace

std::optional<Dwarf_Die> definition_of(const ValueType& declared) {
    std::vector<std::string> path = path_of(declared.die);
    if (path.empty() || path.size() > die_depth_limit)
        return std::nullopt;
    Search search(std::move(path));
    Dwarf* dwarf = dwarf_cu_getdwarf(declared.die.cu);
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    uint8_t type;
    for (size_t i = 0;
         i < unit_limit && dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, nullptr) == 0;
         ++i)
        search.look_in(die, 0);
    return search.found();
}

} // namespace auger
