// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/emulator_watch.h"

#include "loader/kernel/clock.h"
#include "loader/process/emulator.h"

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
    if (!emulator_mapping(mapping.text).empty())
        no_emulators_.erase(pid);
    const auto& modules = view_.latest().modules;
    const auto module = std::ranges::find(modules, FileIdentity{mapping.device, mapping.inode},
                                          &TargetModule::mapped);
    // A look takes as long as a process has mappings, and who maps files in a loop is looked at
    // once.
    if (module == modules.end() || no_emulators_.contains(pid))
        return;
    const std::string emulator = emulator_of(pid);
    if (emulator.empty()) {
        if (no_emulators_.size() >= most_no_emulators)
            no_emulators_.clear();
        no_emulators_.insert(pid);
        return;
    }
    const std::string why = fmt::format(
        "process {} runs {} under {}, which would die of its probes", pid, module->path, emulator);
    probes_.withdraw(module->identity(), why, clock_ns());
    marks_.withdraw(module->identity(), why, clock_ns());
}

} // namespace auger
