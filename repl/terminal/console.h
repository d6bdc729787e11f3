// SPDX-License-Identifier: GPL-3.0-or-later
// The two ways in which lines come from standard input: typed at a prompt, with events delivered
// while it waits, or as a script. Both return when the input ends, on `quit`, and on SIGTERM.
#pragma once

#include "repl/session/session.h"
#include "repl/terminal/guardian.h"
#include "repl/terminal/signals.h"
#include "repl/terminal/stream_output.h"

namespace auger {

// One prompt per process: readline's state is global. `view` leads to the live view and back; it
// may be where it begins. The guardian may be missing.
void run_prompt(Session& session, StreamOutput& output, Signals& signals, Guardian* guardian,
                bool begin_with_view);

// Runs lines as they come; returns the first failure's kind.
std::optional<Error::Kind> run_stdin(Session& session, StreamOutput& output, Signals& signals);

} // namespace auger
