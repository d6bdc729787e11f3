// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of call frame information that a file has.
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/reader/tables/call_frame_information.h"

#include <string>
#include <vector>

namespace auger {

struct FrameSection {
    Bytes content;
    FrameSectionKind kind;
    PointerBases bases;
};

struct FrameSections {
    // .eh_frame first.
    static FrameSections read(const ElfFile& file);

    std::vector<FrameSection> sections; // of `contents`
    std::vector<std::vector<std::byte>> contents;
    std::string unreadable; // the name of one that lies outside the file or is larger than 96 MB
};

} // namespace auger
