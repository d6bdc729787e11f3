// SPDX-License-Identifier: GPL-3.0-or-later
// The header of a shared object of this machine, for files that tests make by hand.
#pragma once

#include <elf.h>

#include <cstring>

namespace auger::test {

// Without segments and sections.
inline Elf64_Ehdr elf_header() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    return header;
}

} // namespace auger::test
