// SPDX-License-Identifier: GPL-3.0-or-later
// From `FILE:LINE` to code. The main program is searched first, and libraries only when none of its
// files has the name.
#pragma once

#include "loader/reader/dwarf/line_table.h"
#include "loader/reader/matching/probe_match.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// One line of one file of one module, and all copies of its code.
struct LineInModule {
    size_t module;
    std::shared_ptr<const LineTable> table;
    SourceLine line;
    std::vector<LineBlock> blocks; // never empty
};

// A file name that fits several files stands for all of them, as in gdb. Fails when there is no
// line information or no such file (near names), which is `absent` (see find_places()), or no code
// on the line (the nearest that have some).
Result<std::vector<LineInModule>> find_line(const ProbePattern& pattern,
                                            std::span<const ProbeModule> modules, bool& absent);

// Which files the pattern stands for, when they are several: for the user.
std::vector<std::string> file_notes(const ProbePattern& pattern,
                                    std::span<const LineInModule> lines);

Result<ProbeMatches> match_line(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                const MatchOptions& options, bool& absent);

// The last component of a path.
std::string_view file_base_name(std::string_view path);

} // namespace auger
