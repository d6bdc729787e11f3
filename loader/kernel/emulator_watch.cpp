// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/emulator_watch.h"

#include "loader/kernel/clock.h"
#include "loader/kernel/emulated_processes.h"
#include "loader/process/emulator.h"
#include "loader/process/proc_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace auger {

void EmulatorWatch::on_event(const ProcessEvent& event) {
    using Kind = ProcessEvent::Kind;
    if (event.kind == Kind::lost)
        no_emulators_.clear();
    else if (event.kind == Kind::exec || event.kind == Kind::exit)
        no_emulators_.erase(static_cast<pid_t>(event.pid));
    else if (event.kind == Kind::mmap && !(probes_.empty() && marks_.empty()))
        on_mapping(event);
}

void EmulatorWatch::on_mapping(const ProcessEvent& mapping) {
    const auto pid = static_cast<pid_t>(mapping.pid);
    const auto& modules = view_.latest().modules;
    // What it is going to map is not told.
    if (maps_code_as_data(mapping.text)) {
        const std::string why =
            fmt::format("process {} is {}, which maps the program that it runs as data, and that "
                        "would die of probes in it",
                        pid, mapping.text);
        for (const TargetModule& module : modules)
            withdraw(module, why);
        return;
    }
    // What one that is a library translates was mapped before.
    const bool begins = !emulator_mapping(mapping.text).empty();
    if (begins)
        no_emulators_.erase(pid);
    const FileIdentity mapped{mapping.device, mapping.inode};
    // A look takes as long as a process has mappings, and who maps files in a loop is looked at
    // once.
    if (no_emulators_.contains(pid) ||
        (!begins && std::ranges::find(modules, mapped, &TargetModule::mapped) == modules.end()))
        return;
    const auto maps = read_maps(pid);
    if (!maps)
        return;
    const std::string emulator = emulator_of(pid, *maps);
    if (emulator.empty()) {
        if (no_emulators_.size() >= most_no_emulators)
            no_emulators_.clear();
        no_emulators_.insert(pid);
        return;
    }
    for (const TargetModule& module : modules)
        if (module.mapped == mapped || is_mapped(*maps, module.mapped))
            withdraw(module, fmt::format("process {} runs {} under {}, which would die of its "
                                         "probes",
                                         pid, module.path, emulator));
}

void EmulatorWatch::withdraw(const TargetModule& module, const std::string& why) {
    probes_.withdraw(module.identity(), why, clock_ns());
    marks_.withdraw(module.identity(), why, clock_ns());
}

} // namespace auger
