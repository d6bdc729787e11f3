// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/json/json_views.h"

#include "views/escape.h"
#include "views/json/json_parts.h"
#include "views/overhead_text.h"

#include <algorithm>

namespace auger {
namespace {

using namespace json_parts;

// What is short stays short, however much is observed: `probes` and `status` have them all.
constexpr size_t most_probes = 50, most_names = 5;

Line probe_lines(const Model& model) {
    Line list = Line::array();
    for (const auto& [id, probe] : model.probes()) {
        if (probe.deleted)
            continue;
        if (list.size() == most_probes)
            break;
        list.push_back({{"id", id.value},
                        {"spec", escape_untrusted(probe.text)},
                        {"off", probe.off},
                        {"slow", threshold_line(probe.slow, model.slow_state(id))}});
    }
    return list;
}

} // namespace

std::string summary_json(const Model& model, const Window& window, const TargetStatus& target) {
    const LedgerEvent& ledger = model.ledger();
    Line line = start("summary");
    Line names = Line::array();
    for (const TargetStatus::Process& process : target.processes) {
        if (names.size() == most_names)
            break;
        const std::string name = escape_untrusted(process.comm);
        if (process.running && std::ranges::find(names, Line(name)) == names.end())
            names.push_back(name);
    }
    line["target"] = std::move(names);
    line["processes"] = std::ranges::count_if(target.processes, &TargetStatus::Process::running);
    line["window"] = window_line(window);
    line["split"] = split_line(model);
    line["only"] = text_or_null(model.only().text);
    line["probes"] = probe_lines(model);
    line["samples"] = model.samples_received();
    line["calls"] = number(model.all_calls().counted());
    line["slow_calls"] = model.slow_calls_received();
    line["rate"] = ledger.rate_hz;
    line["rate_achieved"] = number(ledger.rate_achieved_hz);
    line["wall"] = ledger.wall;
    uint64_t lost = 0;
    for (const auto& [cause, count] : ledger.lost)
        lost += count;
    line["lost"] = lost;
    line["overhead"] = overhead_share(ledger.overhead, overhead_cost(ledger.overhead));
    return finish(line);
}

} // namespace auger
