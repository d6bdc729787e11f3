// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/reader/names/perf_map.h"

#include <cstdlib>

namespace auger::test {

void fuzz_perf_map(const uint8_t* data, size_t size) {
    PerfMap map;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // In two parts, as of a file that grows.
    map.add(text.substr(0, size / 2));
    map.add(text.substr(size / 2));
    size_t length = 0;
    for (uint64_t address = 0; address < 4096; address += 7)
        if (const auto name = map.find(address))
            length += name->size();
    if (length > size * 4096)
        std::abort();
}

} // namespace auger::test
