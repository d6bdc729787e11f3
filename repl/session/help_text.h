// SPDX-License-Identifier: GPL-3.0-or-later
// The text of `help` and `help COMMAND`, from the table.
#pragma once

#include "repl/session/command_table.h"

#include <string>
#include <string_view>

namespace auger {

inline constexpr size_t help_width = 100; // columns

// Fills lines of at most `width` columns. A blank line ends a paragraph; a line that begins with
// two blanks (a table, an example) stays as it is.
std::string wrap_help(std::string_view text, size_t width = help_width);

// Both end in a newline.
std::string help_text(const CommandTable& table, size_t width = help_width);
std::string help_text(const CommandRow& row, size_t width = help_width);

} // namespace auger
