// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/settings_in_force.h"

#include <utility>

namespace auger::remote {

std::optional<ProbeId> SettingsInForce::number_of(ProbeId probe) const {
    const auto found = probes.find(probe);
    return found != probes.end() ? std::optional(found->second.number) : std::nullopt;
}

void SettingsInForce::number(Gate& gate) const {
    for (GateTerm& term : gate.terms)
        if (term.kind == GateTerm::Kind::call)
            term.probe = number_of(term.probe).value_or(ProbeId{UINT32_MAX});
}

// What is unknown stays so to the agent, which says it in its own words.
SplitInfo SettingsInForce::numbered(SplitInfo split) const {
    split.probe = number_of(split.probe).value_or(ProbeId{UINT32_MAX});
    return split;
}

OnlyInfo SettingsInForce::numbered(OnlyInfo only) const {
    number(only.gate);
    return only;
}

SamplingSettings SettingsInForce::numbered(SamplingSettings sampling) const {
    number(sampling.raised);
    return sampling;
}

ExplainRequest SettingsInForce::numbered(ExplainRequest explain) const {
    for (ProbeId& probe : explain.by)
        probe = number_of(probe).value_or(ProbeId{UINT32_MAX});
    explain.probe = number_of(explain.probe).value_or(ProbeId{UINT32_MAX});
    return explain;
}

std::vector<Request> SettingsInForce::requests() const {
    std::vector<Request> all;
    if (target.kind != TargetSpec::Kind::none)
        all.push_back(SetTarget{target});
    if (!(filter == FilterSpec()))
        all.push_back(SetFilter{filter});
    WayOut chosen = WayOut::automatic;
    const auto choose = [&](WayOut way_out) {
        if (std::exchange(chosen, way_out) != way_out)
            all.push_back(SetWayOut{way_out});
    };
    for (const auto& [id, probe] : probes) {
        choose(probe.way);
        ProbeRequest request = probe.request;
        request.id = probe.number;
        all.push_back(AddProbe{std::move(request)});
        if (!probe.attached)
            all.push_back(SetAttached{probe.number, false});
    }
    choose(way);
    if (split.active)
        all.push_back(SetSplit{numbered(split)});
    if (!only.text.empty())
        all.push_back(SetOnly{numbered(only)});
    if (sampling.rate_hz || sampling.raised_hz)
        all.push_back(SetSampling{numbered(sampling)});
    if (explain.active)
        all.push_back(SetExplained{numbered(explain)});
    return all;
}

} // namespace auger::remote
