// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/syscall_probe.h"

#include "repl/language/span_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace auger {

Parsed<SpanDefinition> syscall_span(std::string_view probe, Span at) {
    const std::string_view name = probe.substr(syscall_prefix.size());
    const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
        return std::islower(static_cast<unsigned char>(c)) ||
               std::isdigit(static_cast<unsigned char>(c)) || c == '_';
    });
    if (!is_name)
        return Complaint{at, fmt::format("\"{}\" names no system call", probe),
                         "one by its name: syscall:read; \"probes tracepoint sys_enter_*\" lists "
                         "them",
                         Error::Kind::usage};
    return span_of(fmt::format("from tracepoint:syscalls:sys_enter_{0} to "
                               "tracepoint:syscalls:sys_exit_{0}",
                               name));
}

} // namespace auger
