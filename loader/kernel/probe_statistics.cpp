// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/probe_statistics.h"

#include <utility>

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

std::vector<SpecHits> ProbeStatistics::hits(const std::map<ProbeId, TimedProbe>& probes,
                                            const HitCosts& costs) const {
    std::vector<SpecHits> all;
    uint64_t goroutine_ends = programs_.other_hits()[WIRE_HITS_GOROUTINE_ENDS];
    for (const auto& [id, probe] : probes)
        for (const TimedPlace& place : probe.places) {
            const SpecTable::Hits hits = specs_.hits(place.spec);
            if (!probe.span.empty()) { // whose points are hit
                all.push_back({probe.told_as(), place.spec, 0, hits.tracing_ns});
                continue;
            }
            uint64_t exit_ns = costs.return_ns;
            if (!is_trampoline(place.exit) && !place.exits().empty()) {
                exit_ns = 0;
                for (const ExitPlace& exit : place.exits())
                    exit_ns += costs.of(exit.code.cost);
                exit_ns /= place.exits().size();
            }
            SpecHits one{probe.told_as(), place.spec, hits.entries + hits.exits,
                         hits.entries * costs.of(place.entry().cost) + hits.exits * exit_ns +
                             hits.tracing_ns};
            // They are nobody's in particular.
            if (place.exit == ExitWay::go) {
                const uint64_t ends = std::exchange(goroutine_ends, 0);
                one.hits += ends;
                one.cost_ns += ends * costs.stepped_ns;
            }
            all.push_back(one);
        }
    return all;
}

} // namespace auger
