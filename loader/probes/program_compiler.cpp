// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/program_compiler.h"

#include "loader/values/errno_place.h"

namespace auger {

ProgramCompiler::~ProgramCompiler() {
    // While something is worked on whoever asked comes back, for what was read, too.
    if (asked_ && !not_yet_)
        readers_.forget_debug_information();
}

Result<std::optional<CallProgram>> ProgramCompiler::compile(const CalledFunction& function) {
    if (asks_nothing(request_)) // nor is debug information read
        return std::optional<CallProgram>();
    asked_ = true;
    if (!error_number_ && may_ask_for_errno(request_)) {
        std::optional<Error> not_yet;
        auto offset = errno_offset(
            function.pids,
            [&](pid_t pid, UniqueFd fd, const std::string& path) -> Result<ThreadLocalBlock> {
                const auto root = roots_.of(pid);
                const auto file = CodeFile::open(std::move(fd), path, root.value_or(nullptr), root);
                if (!file)
                    return Error{{}, {}, path + " is not an ELF file for this machine", {}};
                auto block = readers_.thread_local_block(file);
                if (!block && readers_.not_yet())
                    not_yet = block.error();
                return block;
            });
        not_yet_ = not_yet_ || not_yet;
        if (not_yet)
            return *not_yet;
        error_number_ = std::move(offset);
    }
    auto compiled = readers_.compile(
        request_, function, error_number_.value_or(Error{{}, {}, "its location is not known", {}}));
    not_yet_ = not_yet_ || (!compiled && readers_.not_yet());
    return compiled;
}

} // namespace auger
