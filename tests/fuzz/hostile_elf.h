// SPDX-License-Identifier: GPL-3.0-or-later
// Hostile bytes as an ELF file.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <sys/mman.h>
#include <unistd.h>

namespace auger::test {

// Null when they are none.
inline std::shared_ptr<const ElfFile> open_hostile_elf(const uint8_t* data, size_t size) {
    UniqueFd fd(memfd_create("fuzz", MFD_CLOEXEC));
    if (!fd || pwrite(fd.get(), data, size, 0) != static_cast<ssize_t>(size))
        return nullptr;
    const auto file = ElfFile::open(std::move(fd), "fuzz");
    return file ? *file : nullptr;
}

} // namespace auger::test
