// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/target_text.h"

#include <fmt/format.h>

namespace auger {

namespace {

constexpr size_t most_processes_shown = 10;

std::string named_target(const TargetSpec& target) {
    switch (target.kind) {
    case TargetSpec::Kind::none:
        break;
    case TargetSpec::Kind::pids:
        return "by process id";
    case TargetSpec::Kind::name:
        return "processes named " + target.name + condition_text(target);
    case TargetSpec::Kind::all:
        return "everything";
    case TargetSpec::Kind::command: {
        std::string text = "command";
        for (const std::string& word : target.command)
            text += " " + word;
        return text;
    }
    }
    return "none";
}

} // namespace

std::vector<std::string> target_lines(const TargetStatus& target) {
    std::vector<std::string> lines{named_target(target.spec)};
    for (const TargetStatus::Process& process : target.processes) {
        if (lines.size() > most_processes_shown) {
            lines.push_back(
                fmt::format("and {} more", target.processes.size() - most_processes_shown));
            break;
        }
        lines.push_back(fmt::format("{} {}{}{}: {}", process.pid, process.comm,
                                    process.user.empty() ? "" : " (" + process.user + ")",
                                    process.machine.empty() ? "" : " on " + process.machine,
                                    process.running        ? "running"
                                    : process.exit.empty() ? "gone"
                                                           : process.exit));
    }
    return lines;
}

} // namespace auger
