// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/dwarf_function.h"

#include "loader/reader/dwarf/dwarf_units.h"
#include "loader/reader/dwarf/dwarf_walk.h"
#include "loader/reader/values/calling_convention.h"
#include "loader/reader/values/dwarf_attribute.h"
#include "loader/reader/values/dwarf_location.h"
#include "loader/reader/values/dwarf_types.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace auger {
namespace {

constexpr size_t parameter_limit = 128;

// Other languages have conventions of their own.
enum class Language { c, cpp, go, other };
Language language_of(Dwarf_Die unit) {
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_ObjC:
        return Language::c;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case DW_LANG_ObjC_plus_plus:
        return Language::cpp;
    case DW_LANG_Go:
        return Language::go;
    default:
        return Language::other;
    }
}

bool has_code_at(Dwarf_Die die, uint64_t address) {
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;
    for (size_t i = 0; i < 64 && (next = dwarf_ranges(&die, next, &base, &low, &high)) > 0; ++i)
        if (low == address)
            return true;
    return false;
}

// The unit's own function (no inlined copy) that begins at the address.
std::optional<Dwarf_Die> function_in(Dwarf_Die unit, uint64_t address) {
    std::vector<Dwarf_Die> path(1);
    if (dwarf_child(&unit, &path[0]) != 0)
        return std::nullopt;
    for (uint64_t seen = 0; !path.empty() && seen < die_limit; ++seen) {
        Dwarf_Die die = path.back();
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram && has_code_at(die, address))
            return die;
        Dwarf_Die next;
        if (dwarf_siblingof(&die, &next) == 0)
            path.back() = next;
        else
            path.pop_back();
        if (may_hold_functions(tag) && path.size() < die_depth_limit &&
            dwarf_child(&die, &next) == 0)
            path.push_back(next);
    }
    return std::nullopt;
}

std::optional<Dwarf_Die> indexed_unit(Dwarf* dwarf, uint64_t address) {
    Dwarf_Aranges* ranges;
    size_t count;
    Dwarf_Off offset;
    Dwarf_Die unit;
    if (dwarf_getaranges(dwarf, &ranges, &count) != 0)
        return std::nullopt;
    Dwarf_Arange* range = dwarf_getarange_addr(ranges, address);
    if (!range || dwarf_getarangeinfo(range, nullptr, nullptr, &offset) != 0 ||
        !dwarf_offdie(dwarf, offset, &unit))
        return std::nullopt;
    return unit;
}

struct Found {
    Dwarf_Die unit, function;
};

// The index (.debug_aranges) is not always there, and not always complete.
std::optional<Found> find_function(Dwarf* dwarf, uint64_t address) {
    if (auto unit = indexed_unit(dwarf, address))
        if (auto function = function_in(*unit, address))
            return Found{*unit, *function};
    std::optional<Found> found;
    for_each_unit(dwarf, [&](Dwarf_Die unit, uint8_t type) {
        if (type == DW_UT_compile && dwarf_haspc(&unit, address) == 1)
            if (auto function = function_in(unit, address))
                found = Found{unit, *function};
        return !found;
    });
    return found;
}

// The DIE that has the parameters: the function's own, or what it is a copy of.
Dwarf_Die with_parameters(Dwarf_Die function) {
    for (unsigned i = 0; i < 8; ++i) {
        bool any = false;
        for_each_child(function, [&](Dwarf_Die child) {
            any = dwarf_tag(&child) == DW_TAG_formal_parameter;
            return !any;
        });
        Dwarf_Attribute attribute;
        Dwarf_Die origin;
        if (any ||
            (!dwarf_attr(&function, DW_AT_abstract_origin, &attribute) &&
             !dwarf_attr(&function, DW_AT_specification, &attribute)) ||
            !dwarf_formref_die(&attribute, &origin))
            break;
        function = origin;
    }
    return function;
}

} // namespace

std::optional<DwarfFunction> DwarfFunction::find(std::shared_ptr<DwarfFile> file, uint64_t address,
                                                 bool clone) {
    auto found = find_function(file->handle(), address);
    if (!found)
        return std::nullopt;
    // Assemblers describe functions by name and place alone.
    if (dwarf_srclang(&found->unit) == DW_LANG_Mips_Assembler)
        return std::nullopt;
    DwarfFunction function;
    function.file_ = std::move(file);
    function.unit_ = found->unit;
    const Language language = language_of(found->unit);
    function.cpp_ = language == Language::cpp;
    function.in_go_ = language == Language::go;
    function.conventional_ =
        !clone && (language == Language::c || language == Language::cpp) &&
        dwarf_number(found->function, DW_AT_calling_convention).value_or(DW_CC_normal) ==
            DW_CC_normal;
    function.result_ = type_of(found->function);
    function.result_place_ = result_place(function.result_, function.cpp_);
    function.read_parameters(found->function, address);
    return function;
}

void DwarfFunction::read_parameters(Dwarf_Die function, uint64_t address) {
    std::vector<Dwarf_Die> dies, results;
    for_each_child(with_parameters(function), [&](Dwarf_Die child) {
        if (dwarf_tag(&child) == DW_TAG_formal_parameter)
            // Go says so of results.
            (in_go_ && dwarf_flag(child, DW_AT_variable_parameter) ? results : dies)
                .push_back(child);
        return dies.size() + results.size() < parameter_limit;
    });
    read_results(results);
    std::vector<ValueType> types;
    for (const Dwarf_Die& die : dies)
        types.push_back(type_of(die));
    const auto by_convention = parameter_places(types, result_, cpp_);
    for (size_t i = 0; i < dies.size(); ++i) {
        Parameter parameter{dwarf_name(dies[i]), types[i]};
        EntryLocation location = location_at_entry(dies[i], types[i], function, address);
        if (location.kind == EntryLocation::Kind::known)
            parameter.place = std::move(location.place);
        else if (conventional_)
            parameter.place = by_convention[i];
        else
            parameter.absence = location.kind == EntryLocation::Kind::gone
                                    ? "was optimised out: it is nowhere when the function begins"
                                    : "is nowhere that is known when the function begins";
        if (!parameter.place && parameter.absence.empty())
            parameter.absence = types[i].kind == ValueType::Kind::floating
                                    ? "is a floating-point number, which cannot be read"
                                    : "is passed in a way that the debug information does not tell";
        parameters_.push_back(std::move(parameter));
    }
}

// Compilers that pass arguments in registers say so ("Go cmd/compile go1.19.8; -shared regabi").
void DwarfFunction::read_results(const std::vector<Dwarf_Die>& results) {
    Dwarf_Attribute producer;
    const char* by = dwarf_formstring(dwarf_attr(&unit_, DW_AT_producer, &producer));
    std::vector<ValueType> types;
    for (const Dwarf_Die& die : results)
        types.push_back(type_of(die));
    auto places = by && std::string_view(by).find(" regabi") != std::string_view::npos
                      ? go_result_places(types)
                      : std::vector<std::optional<Place>>(types.size());
    for (size_t i = 0; i < results.size(); i++) {
        Parameter result{dwarf_name(results[i]), types[i], std::move(places[i])};
        if (!result.place)
            result.absence =
                types[i].kind == ValueType::Kind::floating
                    ? "is a floating-point number, which cannot be read"
                    : fmt::format("is a {}, which is not returned in registers", types[i].name);
        results_.push_back(std::move(result));
    }
}

} // namespace auger
