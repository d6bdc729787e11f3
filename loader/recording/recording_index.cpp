// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recording_index.h"

#include "loader/base/bytes.h"
#include "loader/recording/checksum.h"
#include "loader/recording/format.h"

#include <algorithm>

namespace auger {
namespace {

using Block = RecordingIndex::Block;
using Holds = RecordingIndex::Holds;

bool has_times(Holds holds) {
    return holds == Holds::events || holds == Holds::both;
}

// Blocks follow each other from the header on, the end mark is the last, and their times are those
// of the whole.
bool fits_itself(const RecordingIndex& index, uint64_t end) {
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    bool timed = false;
    for (const Block& block : index.blocks) {
        if (!has_times(block.holds))
            continue;
        timed = true;
        first_ns = std::min(first_ns, block.first_ns);
        last_ns = std::max(last_ns, block.last_ns);
    }
    return !index.blocks.empty() && index.blocks.back().holds == Holds::end && index.end() == end &&
           timed == index.timed &&
           (!timed || (first_ns == index.first_ns && last_ns == index.last_ns));
}

} // namespace

uint64_t RecordingIndex::end() const {
    return blocks.empty() ? recording::header_size : blocks.back().offset + blocks.back().size;
}

std::string encode_index(const RecordingIndex& index) {
    std::string bytes;
    ByteWriter out(bytes);
    out.string(std::string_view(index.machine.name).substr(0, recording::max_string));
    out.varint(index.machine.boot_ns);
    out.fixed64(index.series.session);
    out.varint(index.series.number);
    out.varint(index.events);
    out.varint(index.timed);
    out.varint(index.first_ns);
    out.varint(index.last_ns);
    out.varint(std::min(index.rates.size(), RecordingIndex::most_rates));
    size_t rates = 0;
    for (const auto& [hz, wall] : index.rates) {
        if (rates++ == RecordingIndex::most_rates)
            break;
        out.varint(hz);
        out.varint(wall);
    }
    out.varint(index.probes.size());
    for (const std::string& text : index.probes)
        out.string(std::string_view(text).substr(0, recording::max_string));
    out.varint(index.blocks.size());
    uint64_t last_ns = 0;
    for (const Block& block : index.blocks) {
        out.varint(static_cast<uint64_t>(block.holds));
        out.varint(block.size);
        if (!has_times(block.holds))
            continue;
        out.zigzag(static_cast<int64_t>(block.first_ns - last_ns));
        out.varint(block.last_ns - block.first_ns);
        last_ns = block.last_ns;
    }
    return bytes;
}

std::optional<RecordingIndex> parse_index(std::string_view content, uint64_t end) {
    RecordingIndex index;
    ByteReader in(content);
    index.machine.name = in.string(recording::max_string);
    index.machine.boot_ns = in.varint();
    index.series.session = in.fixed64();
    index.series.number = in.varint();
    index.events = in.varint();
    index.timed = in.boolean();
    index.first_ns = in.varint_up_to(recording::max_time_ns);
    index.last_ns = in.varint_up_to(recording::max_time_ns);
    for (size_t rates = in.count(RecordingIndex::most_rates); rates > 0 && !in.failed(); rates--) {
        const uint64_t hz = in.varint();
        index.rates.emplace(hz, in.boolean());
    }
    index.probes.resize(in.count(recording::max_probes));
    for (std::string& text : index.probes) {
        text = in.string(recording::max_string);
        if (in.failed())
            return std::nullopt;
    }
    const size_t blocks = in.count(content.size());
    index.blocks.reserve(blocks);
    uint64_t offset = recording::header_size, last_ns = 0;
    for (size_t i = 0; i < blocks; i++) {
        Block block;
        block.holds = static_cast<Holds>(in.varint_up_to(static_cast<uint64_t>(Holds::end)));
        block.offset = offset;
        block.size = in.varint_up_to(recording::block_header_size + recording::max_block);
        block.first_ns = block.last_ns = last_ns;
        if (has_times(block.holds)) {
            block.first_ns = last_ns + static_cast<uint64_t>(in.zigzag());
            const uint64_t span = in.varint_up_to(recording::max_time_ns);
            if (block.first_ns > recording::max_time_ns ||
                span > recording::max_time_ns - block.first_ns)
                in.fail();
            block.last_ns = last_ns = block.first_ns + span;
        }
        const bool last = i + 1 == blocks;
        if (in.failed() || block.size <= recording::block_header_size ||
            last != (block.holds == Holds::end) || block.size > end - std::min(end, offset))
            return std::nullopt;
        offset += block.size;
        index.blocks.push_back(block);
    }
    if (in.failed() || !in.at_end() || !fits_itself(index, end))
        return std::nullopt;
    return index;
}

std::string encode_footer(uint64_t index_offset) {
    std::string footer;
    ByteWriter out(footer);
    out.fixed64(index_offset);
    out.fixed32(checksum(footer));
    return footer.append(recording::index_magic);
}

std::optional<uint64_t> parse_footer(std::string_view footer) {
    if (footer.size() != recording::footer_size || !footer.ends_with(recording::index_magic))
        return std::nullopt;
    ByteReader in(footer);
    const uint64_t offset = in.fixed64();
    if (in.fixed32() != checksum(footer.substr(0, sizeof offset)))
        return std::nullopt;
    return offset;
}

} // namespace auger
