// SPDX-License-Identifier: GPL-3.0-or-later
// A file that runs needs no section headers, and some tools take them away (sstrip, packers). What
// such a file still has is found here as the dynamic loader and unwinders find it: dynamic symbols
// through PT_DYNAMIC, call frame information through PT_GNU_EH_FRAME.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <span>
#include <utility>

namespace auger {

// Up to `size` bytes at a linked address; shorter at the end of its segment or of the file.
std::vector<std::byte> read_loaded(int fd, std::span<const ElfSegment> segments, uint64_t address,
                                   size_t size);

struct LoadedParts {
    uint64_t dynamic = 0; // linked address of PT_DYNAMIC, and of PT_GNU_EH_FRAME; 0: there is none
    uint64_t eh_frame_header = 0;
};

// .dynsym, .dynstr and .eh_frame, as far as they can be found.
std::vector<std::pair<std::string, ElfSection>>
sections_of(int fd, std::span<const ElfSegment> segments, const LoadedParts& parts);

} // namespace auger
