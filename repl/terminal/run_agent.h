// SPDX-License-Identifier: GPL-3.0-or-later
// `auger --agent`: observes this machine, or with -H others, for a console at the other end of
// standard input and output. Changes when an agent is to be given something else of this machine.
#pragma once

#include "repl/terminal/options.h"

namespace auger {

ExitCode run_agent(const Options& options);

} // namespace auger
