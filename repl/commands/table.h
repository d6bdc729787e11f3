// SPDX-License-Identifier: GPL-3.0-or-later
// All commands.
#pragma once

#include "repl/session/command_table.h"

namespace auger {

const CommandTable& command_table();

} // namespace auger
