// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/program_compiler.h"

#include "loader/values/errno_place.h"

namespace auger {

ProgramCompiler::~ProgramCompiler() {
    if (asked_)
        readers_.forget_debug_information();
}

Result<std::optional<CallProgram>> ProgramCompiler::compile(const CalledFunction& function) {
    if (asks_nothing(request_)) // nor is debug information read
        return std::optional<CallProgram>();
    asked_ = true;
    if (!error_number_ && may_ask_for_errno(request_))
        error_number_ = errno_offset(
            function.pids,
            [&](pid_t pid, UniqueFd fd, const std::string& path) -> Result<ThreadLocalBlock> {
                const auto root = roots_.of(pid);
                const auto file = CodeFile::open(std::move(fd), path, root.value_or(nullptr), root);
                if (!file)
                    return Error{{}, {}, path + " is not an ELF file for this machine", {}};
                return readers_.thread_local_block(file);
            });
    return readers_.compile(request_, function,
                            error_number_.value_or(Error{{}, {}, "its location is not known", {}}));
}

} // namespace auger
