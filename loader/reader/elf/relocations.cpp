// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/relocations.h"

#include "loader/arch/arch.h"

#include ARCH(machine.h)

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace auger {
namespace {

constexpr size_t relocations_limit = size_t{64} << 20; // bytes

} // namespace

std::vector<RelativeRelocation> relative_relocations(const ElfFile& file) {
    const std::vector<std::byte> bytes = file.read_section(".rela.dyn", relocations_limit);
    std::vector<RelativeRelocation> relocations;
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size(); at += sizeof(Elf64_Rela)) {
        Elf64_Rela entry;
        std::memcpy(&entry, &bytes[at], sizeof entry);
        if (ELF64_R_TYPE(entry.r_info) == relocation_relative)
            relocations.push_back({entry.r_offset, static_cast<uint64_t>(entry.r_addend)});
    }
    return relocations;
}

std::optional<uint64_t> relative_relocation(const ElfFile& file, uint64_t address) {
    const std::vector<RelativeRelocation> relocations = relative_relocations(file);
    const auto found = std::ranges::find(relocations, address, &RelativeRelocation::address);
    return found == relocations.end() ? std::nullopt : std::optional(found->value);
}

} // namespace auger
