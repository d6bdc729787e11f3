// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/recording/format.h"
#include "loader/recording/recording_index.h"

#include <cstdlib>
#include <string>

namespace auger::test {
namespace {

using Holds = RecordingIndex::Holds;

constexpr uint64_t block_size = 100;
constexpr size_t blocks = 40;

// Of a sound recording.
const std::string& sound_index() {
    static const std::string encoded = [] {
        RecordingIndex index;
        index.machine = {"host", 1'700'000'000'000'000'000};
        index.series = {4711, 12};
        index.events = 5'000;
        index.timed = true;
        index.rates = {{99, false}, {999, true}};
        index.probes = {"handle", "libc:recv"};
        for (size_t i = 0; i < blocks; i++) {
            const Holds holds = i + 1 == blocks ? Holds::end
                                : i % 2         ? Holds::events
                                                : Holds::definitions;
            const uint64_t time = 5'000'000'000 + i * 500'000'000;
            index.blocks.push_back({holds, index.end(), block_size, time, time + 999'999'999});
        }
        index.first_ns = index.blocks[1].first_ns;
        index.last_ns = index.blocks[blocks - 3].last_ns;
        index.last_ns = index.blocks[blocks - 2].holds == Holds::events
                            ? index.blocks[blocks - 2].last_ns
                            : index.last_ns;
        return encode_index(index);
    }();
    return encoded;
}

constexpr uint64_t end_of_blocks = recording::header_size + blocks * block_size;

} // namespace

// What is let pass fits the file and itself, and is let pass again.
void fuzz_recording_index(const uint8_t* data, size_t size) {
    if (size < 2)
        return;
    std::string content(reinterpret_cast<const char*>(data + 1), size - 1);
    if (const auto offset = parse_footer(content); offset && encode_footer(*offset) != content)
        std::abort();
    if (data[0] % 2) { // bytes of a sound one changed: a place and a value are three bytes
        std::string changed = sound_index();
        for (size_t i = 1; i + 3 <= size; i += 3)
            changed[(data[i] << 8 | data[i + 1]) % changed.size()] = static_cast<char>(data[i + 2]);
        content = std::move(changed);
    }
    const auto index = parse_index(content, end_of_blocks);
    if (!index)
        return;
    uint64_t offset = recording::header_size;
    for (const RecordingIndex::Block& block : index->blocks) {
        if (block.offset != offset || block.size <= recording::block_header_size ||
            block.first_ns > block.last_ns || block.last_ns > recording::max_time_ns)
            std::abort();
        offset += block.size;
    }
    if (offset != end_of_blocks)
        std::abort();
    const auto again = parse_index(encode_index(*index), end_of_blocks);
    if (!again || again->blocks != index->blocks || again->probes != index->probes)
        std::abort();
}

} // namespace auger::test
