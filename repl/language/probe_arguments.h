// SPDX-License-Identifier: GPL-3.0-or-later
// What commands about probes have in common: PROBE and `> THRESHOLD`.
#pragma once

#include "loader/stream/events.h"
#include "repl/language/argument_kind.h"
#include "repl/language/arguments.h"

#include <cstdint>
#include <optional>
#include <string>

namespace auger {

// A probe as the user named it: by its text, or by its number.
struct ProbeRef {
    std::string text;
    std::optional<uint32_t> number; // "2" or "#2"
    Span at;
};

ProbeRef probe_ref(const Word& word);

Parsed<ProbeRef> parse_probe(Arguments& arguments);
// `> p95`; the '>' may be left out, as in `threshold`.
Parsed<Threshold> parse_threshold_value(Arguments& arguments, const ProbeRef& probe);

inline constexpr ArgumentKind probe_or_function{.probe = true, .function = true};
inline constexpr std::string_view threshold_words = "p90 p95 p99 p99.9 1ms 10ms";

} // namespace auger
