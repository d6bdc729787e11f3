// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/v8/offset_words.h"

#include "bpf/wire/v8.h"

#include <utility>

namespace auger {

std::vector<uint32_t> v8_offset_words(const V8File& file, uint64_t begin, uint64_t end) {
    std::vector<uint32_t> words;
    uint64_t first = 0;
    for (const auto& [address, place] : file.offset_places) {
        if (address < begin || address >= end || !std::in_range<uint32_t>(address - begin))
            continue;
        if (words.empty()) {
            first = address;
            words.resize(WIRE_V8_HANDLERS_PLACES);
            words[WIRE_V8_HANDLERS_FIRST] = static_cast<uint32_t>(first - begin);
        }
        // Behind what numbers can say all is as it was not known.
        if ((address - first) >> WIRE_V8_HANDLER_BITS) {
            words.push_back(((1u << WIRE_V8_HANDLER_BITS) - 1) << WIRE_V8_PLACE_BITS |
                            WIRE_V8_IN_FRAME);
            break;
        }
        words.push_back(static_cast<uint32_t>(address - first) << WIRE_V8_PLACE_BITS | place);
    }
    if (!words.empty())
        words[WIRE_V8_HANDLERS_COUNT] =
            static_cast<uint32_t>(words.size() - WIRE_V8_HANDLERS_PLACES);
    return words;
}

} // namespace auger
