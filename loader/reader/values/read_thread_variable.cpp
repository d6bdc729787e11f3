// SPDX-License-Identifier: GPL-3.0-or-later
// The dynamic linker's slots are known by relocations: by those that name the variable, which may
// be another file's of the same name then, and else by those of this file's own block.
#include "loader/reader/values/read_thread_variable.h"

#include "loader/arch/arch.h"
#include "loader/reader/values/read_thread_local_block.h"

#include ARCH(machine.h)

#include <elf.h>

#include <cstring>
#include <vector>

namespace auger {
namespace {

using Slot = ThreadVariable::Slot;

constexpr size_t symbols_limit = size_t{256} << 20; // bytes

template <typename Entry>
std::vector<Entry> entries_of(const ElfFile& file, std::string_view section) {
    const std::vector<std::byte> content = file.read_section(section, symbols_limit);
    std::vector<Entry> entries(content.size() / sizeof(Entry));
    if (!entries.empty())
        std::memcpy(entries.data(), content.data(), entries.size() * sizeof(Entry));
    return entries;
}

bool has_name(const Elf64_Sym& symbol, const std::vector<std::byte>& names, std::string_view name) {
    return symbol.st_name < names.size() && names.size() - symbol.st_name > name.size() &&
           std::memcmp(names.data() + symbol.st_name, name.data(), name.size()) == 0 &&
           names[symbol.st_name + name.size()] == std::byte{0};
}

struct FoundVariable {
    uint32_t number; // of the symbol
    uint64_t offset;
};

std::optional<FoundVariable> find_variable(const ElfFile& file, std::string_view table,
                                           std::string_view strings, std::string_view name) {
    const auto names = file.read_section(strings, symbols_limit);
    const auto symbols = entries_of<Elf64_Sym>(file, table);
    for (size_t i = 0; i < symbols.size(); ++i)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_TLS && symbols[i].st_shndx != SHN_UNDEF &&
            symbols[i].st_value <= INT32_MAX && has_name(symbols[i], names, name))
            return FoundVariable{static_cast<uint32_t>(i), symbols[i].st_value};
    return std::nullopt;
}

// What is surer comes first; nothing: it is of something else.
std::optional<unsigned> rank_of(const Elf64_Rela& entry, const FoundVariable& variable) {
    const bool by_name = ELF64_R_SYM(entry.r_info) == variable.number && variable.number != 0;
    if (!by_name && ELF64_R_SYM(entry.r_info) != 0)
        return std::nullopt;
    const unsigned of_file = by_name ? 0 : 3;
    switch (ELF64_R_TYPE(entry.r_info)) {
    case relocation_thread_descriptor:
        return of_file;
    case relocation_thread_module:
        return of_file + 1;
    case relocation_thread:
        return of_file + 2;
    default:
        return std::nullopt;
    }
}

Slot slot_of(const Elf64_Rela& entry, const FoundVariable& variable) {
    const bool by_name = ELF64_R_SYM(entry.r_info) != 0;
    Slot slot;
    slot.address = entry.r_offset;
    // What is added is there, too.
    const uint64_t distance =
        (by_name ? 0 : variable.offset) - static_cast<uint64_t>(entry.r_addend);
    slot.distance = static_cast<int64_t>(distance);
    switch (ELF64_R_TYPE(entry.r_info)) {
    case relocation_thread_descriptor:
        slot.kind = Slot::Kind::descriptor;
        break;
    case relocation_thread_module:
        slot.kind = by_name ? Slot::Kind::module_and_offset : Slot::Kind::module;
        break;
    default:
        slot.kind = Slot::Kind::offset;
    }
    // The word behind it is the linker's, or another relocation's.
    if (ELF64_R_TYPE(entry.r_info) == relocation_thread_module)
        slot.distance = 0;
    return slot;
}

bool is_near(const Slot& slot) {
    return slot.distance >= -INT32_MAX && slot.distance <= INT32_MAX;
}

ThreadVariable with_slot(const ElfFile& file, const FoundVariable& found) {
    ThreadVariable variable;
    variable.offset = found.offset;
    variable.block_size = thread_local_size(file);
    if (!file.dynamic())
        return variable;
    std::optional<unsigned> best;
    for (const std::string_view section : {".rela.dyn", ".rela.plt"})
        for (const Elf64_Rela& entry : entries_of<Elf64_Rela>(file, section)) {
            const auto rank = rank_of(entry, found);
            if (!rank || (best && *best <= *rank) || !is_near(slot_of(entry, found)))
                continue;
            best = rank;
            variable.slot = slot_of(entry, found);
        }
    return variable;
}

} // namespace

std::optional<ThreadVariable> read_thread_variable(const ElfFile& file, std::string_view name) {
    auto found = find_variable(file, ".dynsym", ".dynstr", name);
    if (!found && !file.dynamic())
        found = find_variable(file, ".symtab", ".strtab", name);
    return found ? std::optional(with_slot(file, *found)) : std::nullopt;
}

std::optional<ThreadVariable> read_hidden_thread_variable(const ElfFile& file,
                                                          std::string_view name) {
    auto found = find_variable(file, ".symtab", ".strtab", name);
    if (!found)
        return read_thread_variable(file, name);
    found->number = 0; // relocations count the symbols of .dynsym
    return with_slot(file, *found);
}

} // namespace auger
