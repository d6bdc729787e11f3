// SPDX-License-Identifier: GPL-3.0-or-later
// Chrome's trace event format, which Perfetto, Firefox Profiler and speedscope read: slow calls and
// the timed calls around them, on their threads' time lines.
#pragma once

#include "views/exports/export.h"

namespace auger {

// Returns the number of slow calls. A call around several of them stands there once.
Result<uint64_t> write_chrome_trace(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
