// SPDX-License-Identifier: GPL-3.0-or-later
// How commands name processes and threads: by number, or by the name that the kernel keeps.
#pragma once

#include "repl/language/lexer.h"

#include <sys/types.h>

#include <string_view>
#include <vector>

namespace auger {

inline constexpr size_t comm_limit = 15; // bytes that the kernel keeps of a thread's name

// `what` is what it should be: "pid".
Parsed<pid_t> pid_of(std::string_view text, Span at, std::string_view what);
// "1,2,3"
Parsed<std::vector<pid_t>> pids_of(const Word& word, std::string_view what);
Parsed<void> check_comm(const Word& word);

} // namespace auger
