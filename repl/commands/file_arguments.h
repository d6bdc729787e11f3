// SPDX-License-Identifier: GPL-3.0-or-later
// What commands about files have in common: FILE and FORMAT.
#pragma once

#include "repl/commands/arguments.h"
#include "views/exports/export.h"

namespace auger {

// `what`: for who leaves it out ("a file").
Parsed<std::string> parse_path(Arguments& arguments, std::string_view what);
Parsed<const ExportFormat*> parse_format(Arguments& arguments);
// "collapsed perf-script ..."; kept, for rows of the table.
const std::string& format_names();

} // namespace auger
