// SPDX-License-Identifier: GPL-3.0-or-later
// What a span is from and to: `from PROBE key ret to PROBE key arg0 park PROBE limit 10s`; or
// `exchanges port 8080`.
#pragma once

#include "loader/settings/span_definition.h"
#include "repl/language/arguments.h"

#include <string_view>

namespace auger {

// The rest of the command. `text` of what is read is its canonical form, which reads back.
Parsed<SpanDefinition> parse_span(Arguments& arguments);
// Of a text that stands by itself; an empty definition when it is none.
SpanDefinition span_of(std::string_view text);

// Letters, digits, - and _, not beginning with a digit or -.
bool is_span_name(std::string_view text);

inline constexpr std::string_view span_words =
    "from to park resume if key queued keep exchanges port unix quiet limit";

} // namespace auger
