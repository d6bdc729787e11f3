// SPDX-License-Identifier: GPL-3.0-or-later
// Which processes without power read files for the live backend, and what memory they take. Changes
// when something else is to be read, or from somewhere else.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/live_backend.h"
#include "loader/process/confined_process.h"
#include "loader/reports/reader_status.h"
#include "loader/symbols/symbolizer.h"

namespace auger {

// Who reads names and lines, and where from. Starts what the options do not have.
Result<SymbolizerOptions> symbolizer_options(const LiveOptions& options);

ReaderStatus status_of(ConfinedProcesses& readers);

} // namespace auger
