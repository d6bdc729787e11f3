// SPDX-License-Identifier: GPL-3.0-or-later
// An ELF file with as many functions as are wanted.
#pragma once

#include "tests/support/elf_header.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace auger::test {

// Nothing but symbols, one for each address, and all of it is there.
inline std::string file_of_symbols(size_t count) {
    const std::string names("\0.symtab\0.strtab\0f\0", 19);
    constexpr size_t text = 17; // "f"
    Elf64_Ehdr header = elf_header();
    header.e_shnum = 3;
    header.e_shstrndx = 2;
    header.e_phnum = 1;
    header.e_phoff = sizeof header;
    Elf64_Phdr code{};
    code.p_type = PT_LOAD;
    code.p_flags = PF_R | PF_X;
    code.p_vaddr = 0x1000;
    code.p_filesz = code.p_memsz = count;
    std::string bytes(sizeof header, '\0');
    bytes.append(reinterpret_cast<const char*>(&code), sizeof code);
    std::vector<Elf64_Shdr> sections(3);
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_offset = bytes.size();
    sections[1].sh_size = count * sizeof(Elf64_Sym);
    sections[1].sh_entsize = sizeof(Elf64_Sym);
    sections[1].sh_link = 2;
    Elf64_Sym symbol{};
    symbol.st_name = text;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_size = 1;
    for (size_t i = 0; i < count; i++) {
        symbol.st_value = 0x1000 + i;
        bytes.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
    }
    sections[2].sh_name = 9;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = bytes.size();
    sections[2].sh_size = names.size();
    bytes += names;
    header.e_shoff = bytes.size();
    bytes.append(reinterpret_cast<const char*>(sections.data()),
                 sections.size() * sizeof(Elf64_Shdr));
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

} // namespace auger::test
