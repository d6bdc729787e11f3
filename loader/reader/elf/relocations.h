// SPDX-License-Identifier: GPL-3.0-or-later
// What the dynamic linker writes into a file's data when it loads it, as far as that is addresses
// of the file's own. Linkers leave zeros there.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

// As linked: counted from where the file is loaded.
struct RelativeRelocation {
    uint64_t address; // where it is written
    uint64_t value;
};

// In the order of the file; none of a file that has more than can be true.
std::vector<RelativeRelocation> relative_relocations(const ElfFile& file);
// What is written at an address.
std::optional<uint64_t> relative_relocation(const ElfFile& file, uint64_t address);

} // namespace auger
