// SPDX-License-Identifier: GPL-3.0-or-later
// RecordingIndex: what a recording is of, and where in it are definitions and the events of which
// time, so that a part can be read without the rest. It stands at the end of a recording (format.h)
// and is as hostile as that: what parse_index() lets pass fits the file and itself, and whether the
// blocks are as it says is checked as they are read. Changes when more is to be known of a
// recording that is not read.
#pragma once

#include "loader/stream/events.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace auger {

// Recordings of one session have ids of probes, functions and modules, and calls, in common.
struct SeriesInfo {
    uint64_t session = 0; // random; 0: of an old format
    uint64_t number = 0;  // of the session's files that follow each other, from 1; 0: none of these
    friend bool operator==(const SeriesInfo&, const SeriesInfo&) = default;
};

struct RecordingIndex {
    enum class Holds : uint8_t { definitions = 0, events = 1, both = 2, end = 3 };
    struct Block {
        Holds holds = Holds::both;
        uint64_t offset = 0; // in the file; ascending, without a gap
        uint64_t size = 0;   // with its header
        // Of its events' times the earliest and the latest; of definitions those of the block
        // before.
        uint64_t first_ns = 0, last_ns = 0;
        friend bool operator==(const Block&, const Block&) = default;
    };

    MachineInfo machine;
    SeriesInfo series;
    uint64_t events = 0;
    bool timed = false; // there is an event with a time
    uint64_t first_ns = 0, last_ns = 0;
    // As RecordingSummary has them; no more than these.
    static constexpr size_t most_rates = 1 << 12;
    std::set<std::pair<uint64_t, bool>> rates;
    std::vector<std::string> probes; // texts of those that something happened to
    std::vector<Block> blocks;

    // Where the last block ends.
    uint64_t end() const;
    bool overlaps(uint64_t from_ns, uint64_t to_ns) const {
        return timed && first_ns <= to_ns && last_ns >= from_ns;
    }
};

std::string encode_index(const RecordingIndex& index);
// Nothing when it is not one of a recording whose blocks end at `end`.
std::optional<RecordingIndex> parse_index(std::string_view content, uint64_t end);

// What a footer says of where the index begins; nothing when it is none.
std::string encode_footer(uint64_t index_offset);
std::optional<uint64_t> parse_footer(std::string_view footer);

} // namespace auger
