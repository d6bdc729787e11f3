// SPDX-License-Identifier: GPL-3.0-or-later
// ElfSymbols: the functions of a file's symbol tables, and what it imports.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace auger {

struct ElfSymbols {
    std::vector<std::vector<std::byte>> strings; // what the names point into
    std::vector<ElfFunction> functions;
    std::vector<std::string_view> imports;

    // Adds what a table, .symtab or .dynsym (`dynamic`), with its names, says.
    void read(std::span<const std::byte> table, std::vector<std::byte> names, bool dynamic);
    // Functions by address, then name, each once.
    void put_in_order();
};

} // namespace auger
