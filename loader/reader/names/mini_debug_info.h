// SPDX-License-Identifier: GPL-3.0-or-later
// MiniDebugInfo: some distributions leave the names of all functions in a stripped file, as another
// ELF file, compressed, in its section .gnu_debugdata.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <memory>

namespace auger {

// The file inside; null when there is none, it is broken, or too large. It is unpacked into
// `memory` (unpack_memory.h), from the begin, and is good until that is used again.
std::shared_ptr<const ElfFile> mini_debug_file(const ElfFile& module, int memory);

} // namespace auger
