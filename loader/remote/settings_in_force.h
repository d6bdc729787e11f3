// SPDX-License-Identifier: GPL-3.0-or-later
// SettingsInForce: what a console has asked all agents for, so that one that comes later can be
// given it, and what was asked can be taken back. Agents know probes by numbers of their own, of
// which none is ever given twice, also when a probe was refused. Changes with loader/settings.
#pragma once

#include "loader/remote/requests.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace auger::remote {

struct SettingsInForce {
    struct Probe {
        ProbeId number; // of the agents
        ProbeRequest request;
        WayOut way = WayOut::automatic; // that was chosen when it was added
        bool attached = true;
    };
    TargetSpec target;
    FilterSpec filter;
    WayOut way = WayOut::automatic;
    std::map<ProbeId, Probe> probes; // by the console's ids, which ascend as they are added
    SplitInfo split;
    OnlyInfo only;
    SamplingSettings sampling;
    ExplainRequest explain;

    // What leads an agent there that has just begun.
    std::vector<Request> requests() const;

    // With the agents' numbers in place of the console's ids. Nothing when there is no such probe.
    std::optional<ProbeId> number_of(ProbeId) const;
    SplitInfo numbered(SplitInfo) const;
    OnlyInfo numbered(OnlyInfo) const;
    SamplingSettings numbered(SamplingSettings) const;
    ExplainRequest numbered(ExplainRequest) const;

  private:
    void number(Gate&) const;
};

} // namespace auger::remote
