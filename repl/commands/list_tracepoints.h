// SPDX-License-Identifier: GPL-3.0-or-later
// probes tracepoint: what the kernel has.
#pragma once

#include "repl/session/command.h"

namespace auger {

// The words behind `tracepoint`, which was at `at`.
Parsed<CommandPtr> parse_list_tracepoints(Arguments& arguments, Span at);

} // namespace auger
