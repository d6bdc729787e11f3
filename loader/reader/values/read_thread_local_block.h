// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/values/thread_local_block.h"

namespace auger {

ThreadLocalBlock read_thread_local_block(const ElfFile& file);

// Of PT_TLS, in multiples of its alignment; 0: the file has none.
uint64_t thread_local_size(const ElfFile& file);

} // namespace auger
