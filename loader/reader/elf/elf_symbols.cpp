// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/elf_symbols.h"

#include "loader/elf/bounded_reading.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace auger {
namespace {

constexpr size_t symbol_name_limit = size_t{64} << 10; // bytes

} // namespace

void ElfSymbols::read(std::span<const std::byte> table, std::vector<std::byte> names,
                      bool dynamic) {
    strings.push_back(std::move(names));
    StringTable texts(strings.back());
    for (size_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= table.size();
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        std::memcpy(&symbol, table.data() + at, sizeof symbol);
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        unsigned binding = ELF64_ST_BIND(symbol.st_info);
        bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
        bool import = symbol.st_shndx == SHN_UNDEF && dynamic;
        if (!import && (!function || symbol.st_shndx == SHN_UNDEF))
            continue;
        std::string_view text = texts.at(symbol.st_name, symbol_name_limit);
        // Old binutils write the version into the names of .symtab.
        if (size_t version = text.find('@'); version != text.npos && version > 0)
            text = text.substr(0, version);
        if (text.empty())
            continue;
        if (import)
            imports.push_back(text);
        else if (symbol.st_value != 0)
            functions.push_back({symbol.st_value, symbol.st_size, text, type == STT_GNU_IFUNC,
                                 binding == STB_GLOBAL || binding == STB_WEAK});
    }
}

void ElfSymbols::put_in_order() {
    std::sort(functions.begin(), functions.end(), [](const ElfFunction& a, const ElfFunction& b) {
        if (a.address != b.address)
            return a.address < b.address;
        // The larger size first, so that `unique` keeps it.
        return a.name != b.name ? a.name < b.name : a.size > b.size;
    });
    functions.erase(std::unique(functions.begin(), functions.end(),
                                [](const ElfFunction& a, const ElfFunction& b) {
                                    return a.address == b.address && a.name == b.name;
                                }),
                    functions.end());
    functions.shrink_to_fit();
}

} // namespace auger
