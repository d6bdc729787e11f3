// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: which of the functions that are timed are parts of explained calls.
#include "loader/kernel/live_probes.h"

#include "loader/kernel/place_kind.h"

#include <algorithm>

namespace auger {

namespace {

bool ends_at_tracepoint(const SpanDefinition& span) {
    return std::ranges::any_of(span.points, [](const SpanPoint& point) {
        const ParsedProbe probe = parse_probe(point.probe);
        return point.role == SpanPoint::Role::to && probe.pattern && probe.pattern->tracepoint();
    });
}

} // namespace

Result<NumberedParts> LiveProbes::number_parts(const ExplainRequest& wanted) {
    const auto whole = wanted.active ? probes_.find(wanted.probe) : probes_.end();
    if (whole != probes_.end()) {
        const Probe& probe = whole->second;
        if (auto checked = check_durations(probe, "explain"); !checked)
            return checked.error();
        if (std::ranges::any_of(probe.places, [](const Place& place) { return place.match.in_go; }))
            return Error{"explain", probe.info.text,
                         "a goroutine moves between threads, so what each call did cannot be told "
                         "apart",
                         "`split` and `diff` show what its slow calls do", Error::Kind::failed};
        if (probe.span.exchanges || ends_at_tracepoint(probe.span))
            return Error{"explain", probe.info.text,
                         probe.span.exchanges
                             ? "an exchange's end is found out afterwards"
                             : "a span that ends at a tracepoint may end in an interrupt",
                         "`hist` shows where its time went, `split` and `diff` what slow ones do",
                         Error::Kind::failed};
    }
    NumberedParts numbered;
    const auto part_of = [&](ProbeId id, const Probe& probe, const Place& place) -> uint32_t {
        if (whole == probes_.end())
            return WIRE_PART_NONE;
        if (id == wanted.probe)
            return WIRE_PART_WHOLE;
        if (probe.point || !probe.span.empty() || !whole->second.span.empty() ||
            place.match.in_go || !has_duration(place.match.kind))
            return WIRE_PART_NONE;
        if (!wanted.by.empty() && std::ranges::find(wanted.by, id) == wanted.by.end())
            return WIRE_PART_NONE;
        if (numbered.parts == most_parts) {
            numbered.left_out++;
            return WIRE_PART_NONE;
        }
        return static_cast<uint32_t>(++numbered.parts);
    };
    Transaction edit;
    for (auto& [id, probe] : probes_) {
        bool changed = false;
        for (Place& place : probe.places) {
            const uint32_t part = part_of(id, probe, place);
            if (part == place.part)
                continue;
            edit.restore(place.part);
            place.part = part;
            changed = true;
        }
        if (!changed)
            continue;
        numbered.changed = true;
        if (auto published = publish(probe, edit); !published)
            return published.error();
    }
    edit.commit();
    return numbered;
}

} // namespace auger
