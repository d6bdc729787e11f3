// SPDX-License-Identifier: GPL-3.0-or-later
// Collapsed stacks: "label;outer;inner 12" a line, root first, as flame graph tools read them.
// Counts are of samples; of ticks of the sampling clock where waits are among them. Not ns: some
// importers expand them.
#pragma once

#include "views/exports/export.h"

#include <string>

namespace auger {

// Sorted lines, behind one comment a loss. Returns the number of stacks.
Result<uint64_t> write_collapsed(const Model&, const ExportQuery&, ByteSink&);
std::string collapsed_stacks(const Model&, const ExportQuery&);

} // namespace auger
