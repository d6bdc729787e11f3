// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/setting.h"

#include "repl/language/syscall_probe.h"
#include "repl/session/spelling.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace auger {
namespace {

// Of `slow`, `trace`, `time` and `only PROBE if`.
void spell(const ProbeSetting& probe, std::vector<std::string>& lines) {
    const std::string name = spell_probe(probe.text);
    const CallConditions& conditions = probe.conditions;
    const bool one_word = is_syscall_probe(probe.text);
    if (!probe.span.empty() && !one_word)
        lines.push_back(fmt::format("span {} {}", name, probe.span.text));
    if (probe.slow.kind == Threshold::Kind::none) {
        if (probe.span.empty() || one_word)
            lines.push_back("time " + name);
    } else {
        std::string line = probe.slow.is_of_every_call()
                               ? "trace " + name
                               : fmt::format("slow {} > {}", name, spell_threshold(probe.slow));
        if (!conditions.slow_if.empty())
            line += " if " + conditions.slow_if;
        if (!conditions.show_default)
            line +=
                fmt::format(" show {}", conditions.show.empty()
                                            ? "off"
                                            : fmt::format("{}", fmt::join(conditions.show, ", ")));
        lines.push_back(std::move(line));
    }
    if (!conditions.only_if.empty())
        lines.push_back(fmt::format("only {} if {}", name, conditions.only_if));
}

} // namespace

std::vector<std::string> spell_settings(const Settings& settings, SettingTable table) {
    std::vector<std::string> lines;
    const auto rows = [&](bool before_probes) {
        for (const SettingRow* row : table)
            if (row->spell && (row->order == SettingRow::Order::before_probes) == before_probes)
                row->spell(settings, lines);
    };
    rows(true);
    for (const ProbeSetting& probe : settings.probes)
        spell(probe, lines);
    rows(false);
    // Last: `explain` attaches what it explains by.
    for (const ProbeSetting& probe : settings.probes)
        if (probe.off)
            lines.push_back(fmt::format("time {} off", spell_probe(probe.text)));
    return lines;
}

} // namespace auger
