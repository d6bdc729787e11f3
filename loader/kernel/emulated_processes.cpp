// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/emulated_processes.h"

#include "loader/process/emulator.h"
#include "loader/process/proc_info.h"
#include "loader/process/proc_maps.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

bool maps(pid_t pid, const TargetModule& module) {
    const auto mappings = read_maps(pid);
    if (!mappings)
        return !has_ended(pid); // of what cannot be seen the worst
    return is_mapped(*mappings, module.mapped);
}

Error refusal(const std::string& operation, const std::string& subject, const std::string& what,
              const std::string& emulator) {
    return {operation, subject,
            fmt::format("{} {}, which dies of probes in code that it translates", what, emulator),
            "sampling is safe there; to time calls, run the program without it"};
}

} // namespace

bool is_mapped(std::span<const Mapping> maps, FileIdentity file) {
    return std::ranges::any_of(maps, [&](const Mapping& mapping) {
        return FileIdentity{mapping.device, mapping.inode} == file;
    });
}

Result<void> refuse_emulators(const TargetView& view, const std::string& operation,
                              const std::string& subject) {
    if (view.everything)
        return {};
    for (pid_t pid : view.pids)
        if (const std::string emulator = emulator_of(pid); !emulator.empty())
            return refusal(operation, subject, fmt::format("process {} runs under", pid), emulator);
    return {};
}

Result<void> refuse_emulators_of(const TargetModule& module, const std::string& subject) {
    const auto pids = all_pids();
    if (!pids)
        return pids.error();
    for (pid_t pid : *pids) {
        // All mappings of all processes would take long to read: of an emulator, or of one inside
        // which the program itself is the process.
        const auto executable = exe_path(pid);
        if (!executable || (emulator_named(*executable).empty() && *executable != module.path))
            continue;
        if (const std::string emulator = emulator_of(pid); !emulator.empty() && maps(pid, module))
            return refusal("attach probes", subject,
                           fmt::format("process {} has that file mapped, too, under", pid),
                           emulator);
    }
    return {};
}

} // namespace auger
