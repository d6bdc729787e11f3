// SPDX-License-Identifier: GPL-3.0-or-later
// Completion of a line, from the command table; knows nothing of the terminal.
#pragma once

#include "repl/session/command_table.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// Where names come from. Each gets what was typed so far.
struct CompletionSource {
    std::function<std::vector<std::string>()> probes; // texts
    std::function<std::vector<std::string>(std::string_view)> functions;
    std::function<std::vector<std::string>(std::string_view)> files; // folders end in '/'
    // Of a tracepoint: names.
    std::function<std::vector<std::string>(const std::string&)> fields{};
};

struct Completion {
    size_t start = 0;                    // the bytes from here to the cursor are replaced
    std::string common;                  // what all candidates begin with, at least what is there
    std::vector<std::string> candidates; // sorted, as to be written
};

// `line` up to the cursor.
Completion complete(const CommandTable& table, std::string_view line,
                    const CompletionSource& source);

// Files whose path begins with `prefix`; folders end in '/'. At most a few hundred.
std::vector<std::string> complete_file(std::string_view prefix);

} // namespace auger
