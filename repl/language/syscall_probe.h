// SPDX-License-Identifier: GPL-3.0-or-later
// `syscall:read`: the calls of read(2), from the tracepoint where the kernel takes one up to the
// one where it is done, on the thread that makes it. A span, which one word says.
#pragma once

#include "loader/settings/span_definition.h"
#include "repl/language/arguments.h"

#include <string_view>

namespace auger {

inline constexpr std::string_view syscall_prefix = "syscall:";

inline bool is_syscall_probe(std::string_view probe) {
    return probe.starts_with(syscall_prefix);
}

// Of a probe that is one. A complaint is about `at`, where it was written.
Parsed<SpanDefinition> syscall_span(std::string_view probe, Span at);

} // namespace auger
