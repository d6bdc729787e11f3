// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/symbol_address.h"

#include <elf.h>

#include <cstring>
#include <utility>

namespace auger {
namespace {

constexpr size_t symbol_bytes = size_t{512} << 20;

bool is_named(const std::vector<std::byte>& strings, size_t at, std::string_view name) {
    return at < strings.size() && strings.size() - at > name.size() &&
           std::memcmp(&strings[at], name.data(), name.size()) == 0 &&
           strings[at + name.size()] == std::byte{0};
}

} // namespace

std::optional<uint64_t> symbol_address(const ElfFile& file, std::string_view name) {
    std::optional<uint64_t> found;
    if (name.empty())
        return found;
    for (const auto& [table, texts] :
         {std::pair{".symtab", ".strtab"}, std::pair{".dynsym", ".dynstr"}}) {
        const std::vector<std::byte> symbols = file.read_section(table, symbol_bytes);
        const std::vector<std::byte> strings = file.read_section(texts, symbol_bytes);
        for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            std::memcpy(&symbol, &symbols[at], sizeof symbol);
            const unsigned type = ELF64_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || type == STT_TLS ||
                !is_named(strings, symbol.st_name, name))
                continue;
            if (found && *found != symbol.st_value)
                return std::nullopt;
            found = symbol.st_value;
        }
        if (found)
            break;
    }
    return found;
}

} // namespace auger
