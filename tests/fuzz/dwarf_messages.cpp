// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/symbols/debuginfod_messages.h"
#include "loader/symbols/dwarf_messages.h"

#include <cstdlib>

namespace auger::test {

void fuzz_dwarf_messages(const uint8_t* data, size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    dwarf_messages::request(bytes);
    dwarf_messages::opened(bytes);
    if (const auto begin = debuginfod_messages::begin(bytes))
        if (debuginfod_messages::begin(debuginfod_messages::begin(*begin)) != begin)
            std::abort();
    if (const auto fetched = debuginfod_messages::fetched(bytes))
        if (debuginfod_messages::fetched(debuginfod_messages::fetched(*fetched)) != fetched)
            std::abort();
    for (const size_t count : {0, 1, 2, 512}) {
        const auto frames = dwarf_messages::frames(bytes, count);
        if (!frames)
            continue;
        if (frames->size() != count)
            std::abort();
        // What was understood can be said.
        const auto again = dwarf_messages::frames(dwarf_messages::frames(*frames), count);
        if (!again || again->size() != count)
            std::abort();
    }
}

} // namespace auger::test
