// SPDX-License-Identifier: GPL-3.0-or-later
// Completion of the program's options in bash.
#pragma once

#include "repl/commands/manual_page.h"

namespace auger {

std::string bash_completion(std::span<const ProgramOption> options);

} // namespace auger
