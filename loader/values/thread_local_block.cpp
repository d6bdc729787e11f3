// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/thread_local_block.h"

namespace auger {
namespace {

constexpr uint64_t page = 4096;

} // namespace

std::optional<uint64_t> ThreadLocalBlock::address_of_offset(uint64_t offset) const {
    return linked_address(segments, offset);
}

std::optional<uint64_t> linked_address(std::span<const ElfSegment> segments, uint64_t offset) {
    for (const ElfSegment& segment : segments) {
        const uint64_t before = segment.offset % page;
        if (offset >= segment.offset - before &&
            offset - (segment.offset - before) < segment.file_size)
            return segment.address - before + (offset - (segment.offset - before));
    }
    return std::nullopt;
}

} // namespace auger
