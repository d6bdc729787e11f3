// SPDX-License-Identifier: GPL-3.0-or-later
// What commands that show something have in common.
#pragma once

#include "repl/language/condition.h"
#include "repl/session/session.h"
#include "views/json/json_views.h"
#include "views/text/views.h"

#include <optional>
#include <string>
#include <vector>

namespace auger {

using Lines = std::vector<std::string>; // of JSON

// Makes ready for looking at what was collected; complains also about classes that the split
// lacks.
std::optional<Complaint> not_ready(Session& session, const CommandPlace& place,
                                   const ClassFilter& filter = {});

// The probe that is meant; what a deleted one collected can still be shown.
Parsed<ProbeId> shown_probe(const Session& session, const ProbeRef& ref);
Parsed<std::optional<ProbeId>> shown_probe(const Session& session,
                                           const std::optional<ProbeRef>& ref);

// What the quantity is now; complains about its function or cause, else about `at`.
Parsed<double> value_of(const Session& session, const Quantity& quantity, Span at);

// One object of JSON.
Result<Lines> one(Result<std::string> json);
// What is in force, a line each.
Reply reply_lines(std::string_view command, const std::vector<std::string>& lines);

// Only the form that is asked for is made: `draw` a Canvas, or `write` lines of JSON.
template <typename Draw, typename Write>
Parsed<Reply> show(const Session& session, const CommandPlace& place, Draw draw, Write write) {
    Reply reply;
    if (session.options().json) {
        Result<Lines> lines = write();
        if (!lines)
            return complaint_of(lines.error(), place.at);
        reply.json = std::move(*lines);
    } else {
        Result<Canvas> canvas = draw();
        if (!canvas)
            return complaint_of(canvas.error(), place.at);
        reply.text = to_text(*canvas, session.options().view.colour);
    }
    return reply;
}

} // namespace auger
