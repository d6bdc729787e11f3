// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/elf/program_headers.h"

#include "loader/arch/arch.h"
#include "loader/elf/bounded_reading.h"

#include ARCH(machine.h)

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace auger {
namespace {

constexpr size_t header_limit = 4096; // program headers
constexpr uint64_t note_limit = uint64_t{1} << 20, all_notes_limit = uint64_t{16} << 20; // bytes
constexpr size_t build_id_limit = 64;

std::string hexadecimal(std::span<const std::byte> bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += digits[static_cast<unsigned>(byte) >> 4];
        text += digits[static_cast<unsigned>(byte) & 15];
    }
    return text;
}

bool is_of_this_machine(const Elf64_Ehdr& header) {
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
           header.e_machine == elf_machine;
}

bool is_sane(const Elf64_Phdr& segment) {
    uint64_t end;
    return !__builtin_add_overflow(segment.p_vaddr, segment.p_memsz, &end) &&
           !__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) &&
           segment.p_filesz <= segment.p_memsz;
}

} // namespace

std::string build_id_in_notes(std::span<const std::byte> notes) {
    while (notes.size() >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr header;
        std::memcpy(&header, notes.data(), sizeof header);
        // Sizes have 32 bits: nothing overflows.
        const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
        const uint64_t description = sizeof header + padded(header.n_namesz);
        if (description + header.n_descsz > notes.size())
            return {};
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
            std::memcmp(notes.data() + sizeof header, "GNU", 4) == 0 && header.n_descsz > 0 &&
            header.n_descsz <= build_id_limit)
            return hexadecimal(notes.subspan(description, header.n_descsz));
        notes =
            notes.subspan(std::min<uint64_t>(description + padded(header.n_descsz), notes.size()));
    }
    return {};
}

std::optional<uint64_t> address_of_offset(std::span<const ElfSegment> segments, uint64_t offset) {
    for (const ElfSegment& segment : segments)
        if (offset >= segment.offset && offset - segment.offset < segment.file_size)
            return segment.address + (offset - segment.offset);
    return std::nullopt;
}

std::optional<uint64_t> offset_of_address(std::span<const ElfSegment> segments, uint64_t address) {
    for (const ElfSegment& segment : segments)
        if (address >= segment.address && address - segment.address < segment.file_size)
            return segment.offset + (address - segment.address);
    return std::nullopt;
}

std::optional<ProgramHeaders> read_program_headers(int fd) {
    Elf64_Ehdr header;
    if (read_at(fd, &header, sizeof header, 0) != sizeof header || !is_of_this_machine(header))
        return std::nullopt;
    ProgramHeaders read;
    if (header.e_phentsize != sizeof(Elf64_Phdr))
        return read;
    std::vector<Elf64_Phdr> all(std::min<size_t>(header.e_phnum, header_limit));
    all.resize(read_at(fd, all.data(), all.size() * sizeof(Elf64_Phdr), header.e_phoff) /
               sizeof(Elf64_Phdr));
    uint64_t notes_read = 0;
    for (const Elf64_Phdr& segment : all) {
        if (segment.p_type == PT_DYNAMIC)
            read.dynamic = segment.p_vaddr;
        if (segment.p_type == PT_GNU_EH_FRAME)
            read.eh_frame_header = segment.p_vaddr;
        if (segment.p_type == PT_LOAD && is_sane(segment))
            read.segments.push_back({segment.p_offset, segment.p_vaddr, segment.p_filesz,
                                     segment.p_memsz, (segment.p_flags & PF_X) != 0});
        if (segment.p_type == PT_NOTE && read.build_id.empty() &&
            segment.p_filesz <= std::min(note_limit, all_notes_limit - notes_read)) {
            notes_read += segment.p_filesz;
            std::vector<std::byte> notes(segment.p_filesz);
            notes.resize(read_at(fd, notes.data(), notes.size(), segment.p_offset));
            read.build_id = build_id_in_notes(notes);
        }
    }
    std::ranges::sort(read.segments, {}, &ElfSegment::address);
    return read;
}

} // namespace auger
