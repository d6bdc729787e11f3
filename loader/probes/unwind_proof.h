// SPDX-License-Identifier: GPL-3.0-or-later
// prove_no_unwinding: may return probes be used on a process? They replace return addresses on the
// stack, which kills a program that unwinds (exceptions, panics, cancellation) or swaps its stack
// through a probed frame, and loses returns on longjmp. So the proof is conservative: no mapped
// module may use what unwinds or switches, or what brings further code; and all their code is read
// for whatever else leaves its stack. Only the C library that auger runs with is known, and not
// read. New modules need a new proof. (A handler that changes the stack pointer in a signal's
// context is not seen.)
#pragma once

#include "loader/elf/elf_file.h"
#include "loader/probes/module_switches.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace auger {

struct UnwindProof {
    bool proven;
    std::string reason; // the first thing found that speaks against it; empty when proven
    // What starts other programs, which may map the same libraries and were not read: of those the
    // proof says nothing. Empty: nothing does.
    std::string other_programs{};
};

struct MappedModule {
    std::shared_ptr<const ElfFile> file; // null: could not be opened, which speaks against it
    std::string path;
    bool main_program;
};

// find_switches(), or what remembers its answers.
using SwitchReader = std::function<ModuleSwitches(const std::shared_ptr<const ElfFile>&)>;

// `modules`: every file mapped executable in the process.
UnwindProof prove_no_unwinding(std::span<const MappedModule> modules,
                               const SwitchReader& read_switches);

} // namespace auger
