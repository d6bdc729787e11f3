// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/reader/code/kept_value.h"
#include "loader/reader/runtimes/read_tokio.h"
#include "loader/reader/tables/code_frames.h"

#include <cstdlib>
#include <vector>

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
    // In one of eight registers; every other function that is called keeps them all.
    const uint8_t number = size > 0 ? 8 | (data[size - 1] & 7) : 8;
    const auto values = kept_value({address, std::as_bytes(std::span(data, size))}, number, -0x24,
                                   [](uint64_t called) { return called & 1; });
    least = address;
    for (const KeptValue& value : values.value_or(std::vector<KeptValue>())) {
        if (value.address < least || value.address >= address + size)
            std::abort();
        least = value.address + 1;
    }
    const wire_tokio_task task = tokio_task_of({address, std::as_bytes(std::span(data, size))});
    if (task.id > 0 || task.is_some > 0 || (!task.id && task.is_some))
        std::abort();
}

} // namespace auger::test
