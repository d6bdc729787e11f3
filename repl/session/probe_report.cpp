// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/probe_report.h"

#include "views/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

std::string place_text(const ProbePlace& place) {
    std::string text = fmt::format(
        "{}  {}{}  {}", escape_untrusted(place.function), escape_untrusted(place.module),
        place.offset ? fmt::format("+{:#x}", place.offset) : "", escape_untrusted(place.kind));
    if (!place.note.empty())
        text += fmt::format("  ({})", escape_untrusted(place.note));
    return text;
}

std::string report_lines(const ProbeReport& report, size_t limit) {
    std::string out;
    for (size_t i = 0; i < report.places.size(); ++i) {
        if (i == limit) {
            out += fmt::format("  ... and {} more; \"probes\" lists them\n",
                               report.places.size() - limit);
            break;
        }
        out += fmt::format("  {}\n", place_text(report.places[i]));
    }
    for (size_t i = 0; i < std::min(limit, report.skipped.size()); ++i)
        out += fmt::format("  not probed: {}\n", escape_untrusted(report.skipped[i]));
    if (report.skipped.size() > limit)
        out += fmt::format("  ... and {} more not probed\n", report.skipped.size() - limit);
    if (report.pending)
        out += "  nothing matches yet\n"; // what it waits for is among the notes
    for (const std::string& note : report.notes)
        out += fmt::format("  {}\n", escape_untrusted(note));
    return out;
}

void add_report(JsonObject& object, const ProbeReport& report) {
    JsonObject places = JsonObject::array(), skipped = JsonObject::array(),
               notes = JsonObject::array();
    for (const ProbePlace& place : report.places)
        places.push_back({{"id", place.spec.value},
                          {"function", escape_untrusted(place.function)},
                          {"module", escape_untrusted(place.module)},
                          {"offset", place.offset},
                          {"kind", escape_untrusted(place.kind)},
                          {"note", escape_untrusted(place.note)}});
    for (const std::string& text : report.skipped)
        skipped.push_back(escape_untrusted(text));
    for (const std::string& text : report.notes)
        notes.push_back(escape_untrusted(text));
    object["places"] = std::move(places);
    object["skipped"] = std::move(skipped);
    object["pending"] = report.pending;
    object["notes"] = std::move(notes);
}

} // namespace auger
