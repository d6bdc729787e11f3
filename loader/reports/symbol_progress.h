// SPDX-License-Identifier: GPL-3.0-or-later
// How far the search for names is. Changes when more is told of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace auger {

struct SymbolProgress {
    size_t pending = 0;               // locations without final names
    size_t bytes = 0;                 // held of the stream: ids that were given, definitions
    std::vector<std::string> modules; // being read now: "libLLVM-14.so.1 (38 %)"
};

} // namespace auger
