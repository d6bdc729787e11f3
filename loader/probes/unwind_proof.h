// SPDX-License-Identifier: GPL-3.0-or-later
// prove_no_unwinding: may return probes be used on a process? They replace return addresses on the
// stack, which kills a program that unwinds (exceptions, panics, cancellation) or swaps its stack
// through a probed frame, and loses returns on longjmp. So the proof is conservative: every mapped
// module must be free of anything that can unwind or swap. New modules need a new proof.
#pragma once

#include "loader/elf/elf_file.h"

#include <memory>
#include <span>
#include <string>

namespace auger {

struct UnwindProof {
    bool proven;
    std::string reason; // the first thing found that speaks against it; empty when proven
};

struct MappedModule {
    std::shared_ptr<const ElfFile> file; // null: could not be opened, which speaks against it
    std::string path;
    bool main_program;
};

// `modules`: every file mapped executable in the process.
UnwindProof prove_no_unwinding(std::span<const MappedModule> modules);

} // namespace auger
