// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/probe_statistics.h"

#include <algorithm>

namespace auger {

bool ProbeStatistics::read(ProbeId id, TimedProbe& probe, uint64_t now_ns, const Told& told) {
    bool moved = false;
    for (const TimedPlace& place : probe.places) {
        if (auto event = specs_.read(place.spec, now_ns)) {
            moved |= probe.follower.on_stats(*event);
            sink_.on_stats(*event);
            told(id, *event);
        }
    }
    return moved;
}

void ProbeStatistics::read_last(SpecId spec, uint64_t now_ns) {
    StatsEvent rest;
    rest.time_ns = now_ns;
    rest.spec = spec;
    if (auto event = specs_.read(spec, now_ns)) {
        sink_.on_stats(*event);
        rest.min_ns = event->min_ns;
        rest.max_ns = event->max_ns;
    }
    // Nobody will see the ends of those.
    rest.open = -specs_.open(spec);
    rest.dropped = static_cast<uint64_t>(-rest.open);
    if (rest.open < 0)
        sink_.on_stats(rest);
}

namespace {

// Of an exit that is not single-stepped: which of several it was is not counted.
uint64_t other_exit_ns(const TimedPlace& place, const HitCosts& costs) {
    uint64_t sum = 0, exits = 0;
    for (const ExitPlace& exit : place.exits()) {
        if (exit.code.cost == ProbeCost::single_stepped)
            continue;
        sum += costs.of(exit.code.cost);
        exits++;
    }
    return exits ? sum / exits : costs.emulated_ns;
}

} // namespace

uint64_t SpecHits::cost_ns_since(const SpecHits& before) const {
    const uint64_t stepped = counts.stepped_exits - before.counts.stepped_exits,
                   exits = counts.exits - before.counts.exits;
    return (counts.entries - before.counts.entries) * entry_ns +
           (exits - std::min(stepped, exits)) * exit_ns + stepped * stepped_ns + counts.tracing_ns -
           before.counts.tracing_ns;
}

std::map<SpecId, SpecHits> ProbeStatistics::hits(const std::map<ProbeId, TimedProbe>& probes,
                                                 const HitCosts& costs) const {
    std::map<SpecId, SpecHits> all;
    for (const auto& [id, probe] : probes)
        for (const TimedPlace& place : probe.places) {
            SpecHits one{probe.told_as(), specs_.hits(place.spec), place.exit == ExitWay::go};
            if (!probe.span.empty()) { // whose points are hit
                one.counts = {.tracing_ns = one.counts.tracing_ns};
            } else {
                one.entry_ns = costs.of(place.entry().cost);
                one.exit_ns =
                    is_trampoline(place.exit) ? costs.return_ns : other_exit_ns(place, costs);
                one.stepped_ns = costs.stepped_ns;
            }
            all.emplace(place.spec, one);
        }
    return all;
}

} // namespace auger
