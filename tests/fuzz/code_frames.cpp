// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/reader/tables/code_frames.h"

#include <cstdlib>

namespace auger::test {

void fuzz_code_frames(const uint8_t* data, size_t size) {
    constexpr uint64_t address = 0x401000;
    const CodeFrames frames = frames_of_code(std::as_bytes(std::span(data, size)), address);
    if (frames.end < address || frames.end > address + size + 1)
        std::abort();
    uint64_t least = address;
    for (const FrameRow& row : frames.rows) {
        if (row.address < least || row.rule.cfa > WIRE_CFA_UNSUPPORTED)
            std::abort();
        least = row.address + 1;
    }
}

} // namespace auger::test
