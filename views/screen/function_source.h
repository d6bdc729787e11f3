// SPDX-License-Identifier: GPL-3.0-or-later
// Where a function's code was seen: the file and lines of the addresses that samples brought.
#pragma once

#include "views/model/model.h"

#include <string>

namespace auger {

struct FunctionSource {
    std::string file;  // raw, as the debug information has it; empty: unknown
    uint32_t line = 0; // the first one seen
};

FunctionSource source_of(const SymbolTables&, FunctionId);

} // namespace auger
