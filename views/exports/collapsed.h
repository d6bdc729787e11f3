// SPDX-License-Identifier: GPL-3.0-or-later
// Collapsed stacks: "label;outer;inner 12" a line, root first, as flame graph tools read them.
// Counts are of samples, each of the weight that one of running threads has on average; waits are
// as many as they weigh. They add up to the whole: see whole_numbers(). Not ns: some importers
// expand them.
#pragma once

#include "views/exports/export.h"

#include <string>

namespace auger {

// Sorted lines, behind one comment a loss. Returns the number of stacks.
Result<uint64_t> write_collapsed(const Model&, const ExportQuery&, ByteSink&);
std::string collapsed_stacks(const Model&, const ExportQuery&);

} // namespace auger
