// SPDX-License-Identifier: GPL-3.0-or-later
// prove_no_unwinding: may return probes be used on a process? They replace return addresses on the
// stack, which kills a program that unwinds (exceptions, panics, cancellation) or swaps its stack
// through a probed frame, and loses returns on longjmp. So the proof is conservative: no mapped
// module may use what unwinds or switches, what brings further code, or what catches signals (a
// handler may change the stack pointer of what it interrupts); and all their code is read for
// whatever else leaves its stack. Only the C library that auger runs with is known, and not read.
// New modules need a new proof.
#pragma once

#include "loader/base/result.h"
#include "loader/probes/code_file.h"

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
    bool not_yet = false; // what was not found out is still being read
};

// What one file says that concerns the proof; each goes on after its name, and is empty when there
// is nothing.
struct UnwindFacts {
    std::string objection; // "uses longjmp"
    std::string starter;   // "uses execve": it starts other programs
};

struct MappedModule {
    std::shared_ptr<const CodeFile> file; // null: could not be opened, which speaks against it
    std::string path;
    bool main_program;
};

// Who reads the files; what cannot be read speaks against them.
class UnwindReader {
  public:
    virtual ~UnwindReader() = default;
    virtual Result<UnwindFacts> facts_of(const std::shared_ptr<const CodeFile>& file) = 0;
    // What in the file's code leaves the stack that it runs on, or may; empty: nothing does.
    virtual Result<std::string> switches_in(const std::shared_ptr<const CodeFile>& file) = 0;
    // Whether the last of them failed because the file is still being read.
    virtual bool not_yet() const { return false; }
};

// `modules`: every file mapped executable in the process.
UnwindProof prove_no_unwinding(std::span<const MappedModule> modules, UnwindReader& reader);

} // namespace auger
