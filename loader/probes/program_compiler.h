// SPDX-License-Identifier: GPL-3.0-or-later
// ProgramCompiler: from what the user wants to see and ask of calls to what the kernel reads, for
// many functions: debug information is read once, and kept for as long as this lives.
#pragma once

#include "loader/probes/code_readers.h"
#include "loader/process/root_folders.h"
#include "loader/values/call_program.h"

#include <optional>

namespace auger {

class ProgramCompiler {
  public:
    ProgramCompiler(CodeReaders& readers, ProgramRequest request)
        : readers_(readers), request_(std::move(request)) {}
    ~ProgramCompiler();
    ProgramCompiler(const ProgramCompiler&) = delete;
    ProgramCompiler& operator=(const ProgramCompiler&) = delete;

    // Nothing when nothing is asked.
    Result<std::optional<CallProgram>> compile(const CalledFunction& function);

  private:
    CodeReaders& readers_;
    const ProgramRequest request_;
    RootFolders roots_;
    std::optional<Result<int32_t>> error_number_; // of the processes that were asked for first
    bool asked_ = false, not_yet_ = false;
};

} // namespace auger
