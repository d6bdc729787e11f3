// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reports/target_status.h"
#include "repl/session/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {

std::vector<const Preset*> presets_for(const TargetStatus& target) {
    std::vector<const Preset*> fitting;
    for (const Preset& preset : presets())
        if (std::ranges::any_of(target.processes, [&](const TargetStatus::Process& process) {
                return process.running && process.comm == preset.program;
            }))
            fitting.push_back(&preset);
    return fitting;
}

std::string preset_programs(const TargetStatus& target) {
    std::vector<std::string_view> names;
    for (const Preset* preset : presets_for(target))
        names.push_back(preset->program);
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string span_advice(const TargetStatus& target) {
    const std::string names = preset_programs(target);
    return names.empty() ? names : fmt::format("\"span auto\" times whole requests of {}", names);
}

} // namespace auger
