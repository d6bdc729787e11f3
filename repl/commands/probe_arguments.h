// SPDX-License-Identifier: GPL-3.0-or-later
// What commands about probes have in common: PROBE and `> THRESHOLD`.
#pragma once

#include "repl/commands/table.h"

namespace auger {

Parsed<ProbeRef> parse_probe(Arguments& arguments);
// `> p95`; the '>' may be left out, as in `threshold`.
Parsed<Threshold> parse_threshold_value(Arguments& arguments, const ProbeRef& probe);

inline constexpr ArgumentKind probe_or_function{.probe = true, .function = true};
inline constexpr std::string_view thresholds = "p90 p95 p99 p99.9 1ms 10ms";

} // namespace auger
