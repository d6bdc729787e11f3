// SPDX-License-Identifier: GPL-3.0-or-later
// count_inlined_copies: how often a function without own code was inlined, by DWARF or the
// tables of a Go program. Asked only for a name that was found nowhere, so that the user learns
// why.
#pragma once

#include "loader/probes/probe_pattern.h"
#include "loader/reader/elf/elf_file.h"

#include <cstddef>

namespace auger {

// 0 when there are none, the file says nothing of it, or too much to look through.
size_t count_inlined_copies(const ElfFile& file, const ProbePattern& pattern);

} // namespace auger
