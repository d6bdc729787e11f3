// SPDX-License-Identifier: GPL-3.0-or-later
// For a probe that was added: what matched, what was skipped and why.
#pragma once

#include "loader/reports/probe_report.h"
#include "repl/session/reply.h"

#include <string>

namespace auger {

// Of one place: the function, where it is, how it is probed, and what is to be said of that.
std::string place_text(const ProbePlace& place);
// At most `limit` places.
std::string report_lines(const ProbeReport& report, size_t limit);
void add_report(JsonObject& object, const ProbeReport& report);

} // namespace auger
