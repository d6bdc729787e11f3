// SPDX-License-Identifier: GPL-3.0-or-later
// What commands about files have in common: FILE, FORMAT, SPAN and `keep N`.
#pragma once

#include "loader/base/read_clock.h"
#include "repl/language/arguments.h"
#include "views/exports/export.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace auger {

// `what`: for who leaves it out ("a file").
Parsed<std::string> parse_path(Arguments& arguments, std::string_view what);
Parsed<const ExportFormat*> parse_format(Arguments& arguments);

inline constexpr uint64_t day_ns = 24 * 3'600 * second_ns;
inline constexpr size_t default_keep = 60; // files

// A duration between two others.
Parsed<uint64_t> parse_span(Arguments& arguments, std::string_view what, uint64_t least,
                            uint64_t most);
// Bytes, between two numbers of them.
Parsed<uint64_t> parse_size(Arguments& arguments, std::string_view what, uint64_t least,
                            uint64_t most);
// How many files are kept.
Parsed<size_t> parse_keep(Arguments& arguments);

// "collapsed perf-script ..."; kept, for rows of the table.
const std::string& format_names();

} // namespace auger
