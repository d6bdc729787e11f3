// SPDX-License-Identifier: GPL-3.0-or-later
// docs/reference.md, from the tables of commands, keys and options.
#pragma once

#include "repl/commands/manual_page.h"

#include <span>
#include <string>

namespace auger {

// Markdown. `usage` and `options` as manual_page() takes them.
std::string reference_page(std::string_view usage, std::span<const ProgramOption> options);

} // namespace auger
