// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/elf_sections.h"

#include <elf.h>

namespace auger {
namespace {

constexpr size_t section_limit = 65'535;
constexpr size_t section_names_limit = size_t{16} << 20;

// libelf makes a table of all sections before anybody asks, and files may claim as many as their
// size, which costs nothing, has room for.
bool has_sane_sections(int fd) {
    Elf64_Ehdr header;
    Elf64_Shdr first;
    if (read_at(fd, &header, sizeof header, 0) != sizeof header || header.e_shnum != 0 ||
        header.e_shoff == 0 || read_at(fd, &first, sizeof first, header.e_shoff) != sizeof first)
        return true; // at most 65,535, or none
    return first.sh_size <= section_limit;
}

} // namespace

ElfHandle open_elf(int fd) {
    if (!has_sane_sections(fd))
        return nullptr;
    elf_version(EV_CURRENT);
    return ElfHandle(elf_begin(fd, ELF_C_READ, nullptr));
}

std::string elf_cause() {
    const char* text = elf_errmsg(-1);
    return text ? text : "not a valid ELF file";
}

// libelf would keep what it reads, and so is used for compressed ones alone.
std::vector<std::byte> section_content(int fd, Elf_Scn* section, size_t limit) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS || header.sh_size > limit)
        return {};
    if (!(header.sh_flags & SHF_COMPRESSED))
        return file_content(fd, header.sh_offset, header.sh_size);
    GElf_Chdr compressed;
    if (!gelf_getchdr(section, &compressed) || compressed.ch_size > limit)
        return {};
    // zlib cannot inflate more than about 1,032 times; a larger claim is a lie that would only make
    // us allocate.
    if (compressed.ch_size / 1100 > header.sh_size || elf_compress(section, 0, 0) < 0)
        return {};
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (!data || !data->d_buf || data->d_size > limit)
        return {};
    const auto* bytes = static_cast<const std::byte*>(data->d_buf);
    return {bytes, bytes + data->d_size};
}

std::vector<std::byte> SectionNames::read(int fd, Elf* elf) {
    size_t index;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &index) != 0 || !gelf_getshdr(elf_getscn(elf, index), &header) ||
        (header.sh_flags & SHF_COMPRESSED) || header.sh_type == SHT_NOBITS ||
        header.sh_size > section_names_limit)
        return {};
    return file_content(fd, header.sh_offset, header.sh_size);
}

Elf_Scn* find_section(int fd, Elf* elf, std::string_view name) {
    SectionNames names(fd, elf);
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && names.of(header) == name)
            return section;
    }
    return nullptr;
}

} // namespace auger
