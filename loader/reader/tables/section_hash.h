// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of an ELF file as input of a hash.
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/unwind/seeded_hash.h"

#include <unistd.h>

#include <vector>

namespace auger {

// The bytes of a section as they are in the file, a part at a time.
inline void add_content(SeededHash& hash, const ElfFile& file, const ElfSection& section) {
    std::vector<std::byte> buffer(std::min<uint64_t>(section.size, 256 << 10));
    for (uint64_t done = 0; done < section.size;) {
        const size_t part = std::min<uint64_t>(section.size - done, buffer.size());
        const ssize_t got =
            pread(file.fd(), buffer.data(), part, static_cast<off_t>(section.offset + done));
        if (got <= 0)
            break;
        hash.add(Bytes(buffer.data(), static_cast<size_t>(got)));
        done += static_cast<uint64_t>(got);
    }
}

} // namespace auger
