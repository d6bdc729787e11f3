// SPDX-License-Identifier: GPL-3.0-or-later
// The manual page, in troff's man macros, from the command table and the program's options.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace auger {

struct ProgramOption {
    std::string names;   // "-p,--pid"
    std::string type;    // "PID"; empty: a flag
    std::string details; // a sentence
};

// `version`: "auger 0.1.0". `usage`: without the program's name's repetition, a line a way.
// `notes`: paragraphs, as --help ends with.
std::string manual_page(std::string_view version, std::string_view usage,
                        std::span<const ProgramOption> options, std::string_view notes);

} // namespace auger
