// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/elf/elf_file.h"
#include "loader/probes/unwind_proof.h"

namespace auger {

// By what the file imports and defines; its code is not read.
UnwindFacts unwind_facts(const ElfFile& file);

} // namespace auger
