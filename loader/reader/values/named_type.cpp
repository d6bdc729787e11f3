// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/named_type.h"

#include "loader/probes/edit_distance.h"
#include "loader/reader/dwarf/dwarf_units.h"
#include "loader/reader/dwarf/dwarf_walk.h"
#include "loader/reader/values/dwarf_types.h"
#include "loader/reader/values/type_search.h"
#include "loader/values/basic_type.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

namespace auger {
namespace {

constexpr size_t mistake_limit = 2;  // letters
constexpr unsigned scope_limit = 16; // namespaces and classes within each other

Error wrong_type(std::string cause, std::string hint = {}) {
    return {{}, {}, std::move(cause), std::move(hint), Error::Kind::usage};
}

bool is_struct(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}
bool is_union(int tag) {
    return tag == DW_TAG_union_type;
}
bool is_enumeration(int tag) {
    return tag == DW_TAG_enumeration_type;
}
bool has_own_name(int tag) {
    return is_structure(tag) || is_enumeration(tag);
}
bool is_other_name(int tag) {
    return tag == DW_TAG_typedef || tag == DW_TAG_base_type;
}

// Takes `struct ` and the like from a name.
TypeSearch::Accept take_keyword(std::string_view& name) {
    constexpr std::pair<std::string_view, TypeSearch::Accept> keywords[] = {
        {"struct ", is_struct},
        {"class ", is_struct},
        {"union ", is_union},
        {"enum ", is_enumeration}};
    for (const auto& [keyword, accept] : keywords)
        if (name.starts_with(keyword)) {
            name.remove_prefix(keyword.size());
            return accept;
        }
    return nullptr;
}

// At each :: that is not within <>.
std::vector<std::string> components(std::string_view name) {
    std::vector<std::string> parts(1);
    int open = 0;
    for (size_t i = 0; i < name.size(); ++i) {
        open += name[i] == '<';
        open -= name[i] == '>';
        if (open == 0 && name.substr(i).starts_with("::")) {
            parts.emplace_back();
            ++i;
        } else {
            parts.back() += name[i];
        }
    }
    return parts;
}

// The type whose name is most like the wanted one, wherever it is.
class NearestType {
  public:
    explicit NearestType(const std::string& wanted) : wanted_(wanted) {}

    void look_in(Dwarf_Die parent, const std::string& scope, unsigned depth) {
        Dwarf_Die child;
        bool more = dwarf_child(&parent, &child) == 0;
        for (; more && ++visited_ < die_limit; more = dwarf_siblingof(&child, &child) == 0) {
            const int tag = dwarf_tag(&child);
            const bool type = has_own_name(tag) || is_other_name(tag);
            const char* name = type || tag == DW_TAG_namespace ? dwarf_diename(&child) : nullptr;
            if (!name)
                continue;
            if (type)
                compare(scope, name);
            if (depth < scope_limit && (tag == DW_TAG_namespace || is_structure(tag)))
                look_in(child, scope + name + "::", depth + 1);
        }
    }

    const std::string& found() const { return found_; } // empty: none is

  private:
    void compare(const std::string& scope, const char* name) {
        const size_t distance = edit_distance(wanted_, name, mistake_limit);
        if (distance >= distance_)
            return;
        distance_ = distance;
        found_ = scope + name;
    }

    const std::string& wanted_;
    uint64_t visited_ = 0;
    size_t distance_ = mistake_limit + 1;
    std::string found_;
};

} // namespace

std::optional<ValueType> basic_value_type(const std::string& name) {
    const auto basic = basic_type(name);
    if (!basic)
        return std::nullopt;
    ValueType type;
    switch (basic->kind) {
    case BasicType::Kind::integer:
        type.kind = ValueType::Kind::integer;
        break;
    case BasicType::Kind::character:
        type.kind = ValueType::Kind::character;
        break;
    case BasicType::Kind::boolean:
        type.kind = ValueType::Kind::boolean;
        break;
    case BasicType::Kind::floating:
        type.kind = ValueType::Kind::floating;
        break;
    case BasicType::Kind::nothing:
        type.kind = ValueType::Kind::nothing;
        break;
    }
    type.size = basic->size;
    type.is_signed = basic->is_signed;
    type.name = name;
    return type;
}

Result<ValueType> find_type(Dwarf* dwarf, std::optional<Dwarf_Die> unit, const std::string& name) {
    std::string_view rest = name;
    const TypeSearch::Accept keyword = take_keyword(rest);
    const std::vector<std::string> path = components(rest);
    if (path.size() > scope_limit)
        return wrong_type(fmt::format("\"{}\" is in too many others", name));
    std::vector<TypeSearch::Accept> kinds{keyword};
    // `typedef struct request request`: the structure.
    if (!keyword)
        kinds = {has_own_name, is_other_name};
    if (unit)
        for (const TypeSearch::Accept accept : kinds) {
            TypeSearch search(path, accept);
            search.look_in(*unit);
            if (auto found = search.found())
                return type_at(*found);
        }
    for (const TypeSearch::Accept accept : kinds) {
        TypeSearch search(path, accept);
        search.look_in_all(dwarf);
        if (search.differ())
            return wrong_type(fmt::format("there are several types \"{}\", which differ", name));
        if (auto found = search.found())
            return type_at(*found);
    }
    NearestType nearest(path.back());
    for_each_unit(dwarf, [&](Dwarf_Die any, uint8_t) {
        nearest.look_in(any, "", 0);
        return true;
    });
    const bool helps = !nearest.found().empty() && nearest.found() != rest;
    return wrong_type(fmt::format("the debug information has no type \"{}\"", name),
                      helps ? fmt::format("is \"{}\" meant?", nearest.found()) : "");
}

} // namespace auger
