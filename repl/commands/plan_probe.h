// SPDX-License-Identifier: GPL-3.0-or-later
// time --dry-run: what timing would do, and cost.
#pragma once

#include "repl/language/probe_arguments.h"
#include "repl/session/command.h"

namespace auger {

// The words behind `--dry-run`.
Parsed<CommandPtr> parse_plan_probe(Arguments& arguments);

} // namespace auger
