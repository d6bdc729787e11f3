// SPDX-License-Identifier: GPL-3.0-or-later
// speedscope's own file format: https://www.speedscope.app/file-format-schema.json
#pragma once

#include "views/exports/export.h"

namespace auger {

// One profile of everything, and one a class where there is a split. Weights are ns. Returns the
// number of stacks.
Result<uint64_t> write_speedscope(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
