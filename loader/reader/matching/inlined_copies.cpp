// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/inlined_copies.h"

#include "loader/probes/function_names.h"
#include "loader/reader/dwarf/dwarf_units.h"
#include "loader/reader/elf/go_inline_trees.h"
#include "loader/reader/matching/name_matcher.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace auger {
namespace {

// A console's user waits for the answer: about a second's work at most.
constexpr size_t function_limit = 500'000;
constexpr size_t call_limit = 2'000'000;

struct DwarfEnd {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
};

struct CopySearch {
    const ProbePattern& pattern;
    NameMatcher matcher;
    std::string_view plain; // the last component
    size_t functions = 0;
    size_t copies = 0;
};

int count_instance(Dwarf_Die*, void* opaque) {
    ++static_cast<CopySearch*>(opaque)->copies;
    return DWARF_CB_OK;
}

const char* linkage_name(Dwarf_Die* function) {
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute))
        return nullptr;
    return dwarf_formstring(&attribute);
}

int look_at_function(Dwarf_Die* function, void* opaque) {
    auto& search = *static_cast<CopySearch*>(opaque);
    if (++search.functions > function_limit)
        return DWARF_CB_ABORT;
    if (!dwarf_func_inline(function))
        return DWARF_CB_OK;
    const char* name = dwarf_diename(function);
    if (!name || (!search.pattern.function_is_glob && search.plain != name))
        return DWARF_CB_OK;
    const char* linkage = linkage_name(function);
    if (search.matcher.matches(linkage ? linkage : name))
        dwarf_func_inline_instances(function, count_instance, &search);
    return DWARF_CB_OK;
}

size_t count_in_go_tables(const ElfFile& file, const ProbePattern& pattern) {
    const auto trees = file.is_go() ? GoInlineTrees::of_file(file) : std::nullopt;
    if (!trees)
        return 0;
    const NameMatcher matcher(pattern);
    std::unordered_map<const char*, bool> known; // by where the name is
    const std::vector<GoFunction>& functions = file.go_table()->functions();
    size_t copies = 0, calls = 0;
    for (size_t i = 0; i < std::min(functions.size(), function_limit) && calls < call_limit; i++)
        for (const GoInlineTrees::Call& call : trees->calls(functions[i])) {
            const auto [name, is_new] = known.try_emplace(call.function.data());
            if (is_new)
                name->second = matcher.matches(call.function);
            copies += name->second;
            calls++;
        }
    return copies;
}

} // namespace

size_t count_inlined_copies(const ElfFile& file, const ProbePattern& pattern) {
    if (pattern.function.empty())
        return 0;
    if (!file.has_section(".debug_info"))
        return count_in_go_tables(file, pattern);
    elf_version(EV_CURRENT);
    // dwarf_begin() would map the file into memory, where truncation kills.
    std::unique_ptr<Elf, ElfEnd> elf(elf_begin(file.fd(), ELF_C_READ, nullptr));
    std::unique_ptr<Dwarf, DwarfEnd> dwarf(elf ? dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr)
                                               : nullptr);
    if (!dwarf)
        return 0;
    std::string stripped = strip_template_arguments(pattern.function);
    stripped = stripped.substr(0, stripped.find('('));
    CopySearch search{pattern, NameMatcher(pattern), unqualified(stripped)};
    for_each_unit(dwarf.get(), [&](Dwarf_Die unit, uint8_t) {
        dwarf_getfuncs(&unit, look_at_function, &search, 0);
        return search.functions <= function_limit;
    });
    return search.copies;
}

} // namespace auger
