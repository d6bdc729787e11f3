// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/probes/unwind_proof.h"
#include "loader/reader/elf/elf_file.h"

namespace auger {

// By what the file imports and defines; its code is not read.
UnwindFacts unwind_facts(const ElfFile& file);

} // namespace auger
