// SPDX-License-Identifier: GPL-3.0-or-later
// A list of processes to choose from, at the terminal: what `auger` alone begins with.
#pragma once

#include "loader/base/result.h"
#include "repl/terminal/guardian.h"
#include "repl/terminal/signals.h"

#include <sys/types.h>

#include <optional>

namespace auger {

// The process that the user chooses; nothing when the user leaves or auger has to end. Fails where
// the terminal cannot do it.
Result<std::optional<pid_t>> pick_process(Signals& signals, Guardian& guardian);

} // namespace auger
