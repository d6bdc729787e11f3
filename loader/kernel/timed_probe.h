// SPDX-License-Identifier: GPL-3.0-or-later
// TimedProbe: a probe of the user's with the places that it has in the target's files. Changes when
// more is to be known of either.
#pragma once

#include "loader/kernel/attachment.h"
#include "loader/kernel/module_catalogue.h"
#include "loader/kernel/place_group.h"
#include "loader/probes/code_readers.h"
#include "loader/probes/place_match.h"
#include "loader/probes/probe_pattern.h"
#include "loader/settings/span_definition.h"
#include "loader/settings/way_out.h"
#include "loader/stats/threshold_follower.h"
#include "loader/stream/events.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

struct TimedPlace {
    SpecId spec;
    PlaceMatch match;
    FileIdentity file;
    ExitWay exit;
    bool second = false; // has changed its way out; see WIRE_SPEC_SECOND
    CalledFunction values{};
    uint32_t program = 0;       // its call program; see wire_spec
    uint32_t part = 0;          // of explained calls; see wire_spec
    bool at_arguments = false;  // its entry probe is where arguments can be read
    bool reads_results = false; // of its calls something is read when they return
    bool leaves_early = false;  // its exit probes are cheap ones; results are not there yet
    // Of a function that ends by jumps, or of a jump: known calls of the jumping function.
    size_t returns = 0;
    // Of one that ends by jumps only, and of which no calls are known: it is seen to end where what
    // it jumps to does (PlaceMatch::tail_ends).
    bool ends_in_callees = false;
    ObservedExit told{}; // the way out that was told of it

    const EntryPlace& entry() const { return at_arguments ? *match.argument_entry : match.entry; }
    const std::vector<ExitPlace>& exits() const {
        return leaves_early ? match.cheap_exits : match.exits;
    }
    bool through_pointer() const { return match.site && match.site->pointer; }
    // A call site that is a jump.
    bool jumps() const { return match.site && match.site->jump; }
};

// Whose point a probe is.
struct PointOfSpan {
    ProbeId span;
    SpecId spec; // the span's
    SpanPoint point;
    bool anywhere = false; // see WIRE_SPAN_ANYWHERE
    bool resumed = false;  // see WIRE_SPAN_RESUMED

    // Nothing is asked of its calls' ends.
    bool at_entry() const { return !point.at_return; }
};

struct TimedProbe {
    ProbeInfo info;
    ProbePattern pattern;
    WayOut way_out;
    ThresholdFollower follower;
    std::vector<TimedPlace> places;
    std::vector<PlaceGroup> groups; // one a file and way out
    uint32_t terms = 0;             // of gates
    bool being_read = false;        // files in which there may be more
    uint64_t executed = 0;          // processes, while it had no places
    bool waits_for_native = false;  // a name in a language, which stands for nothing yet
    std::vector<UniqueFd> links{};  // of tracepoints
    // A span has one place, in no file; its points are probes of which nobody is told but as places
    // of the span.
    SpanDefinition span{};
    std::optional<bool> has_string_keys{}; // of a span; nothing: it has no keys yet
    std::optional<PointOfSpan> point{};

    ProbeId told_as() const { return point ? point->span : info.id; }
};

} // namespace auger
