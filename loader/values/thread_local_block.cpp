// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/thread_local_block.h"

#include <algorithm>

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

bool is_linked_to(std::span<const ElfSegment> segments, uint64_t offset, uint64_t distance,
                  uint64_t address) {
    return std::ranges::any_of(segments, [&](const ElfSegment& segment) {
        const uint64_t before = segment.offset % page, first = segment.offset - before;
        return offset >= first && distance < segment.file_size + before &&
               offset - first < segment.file_size + before - distance &&
               segment.address - before + (offset - first) + distance == address;
    });
}

} // namespace auger
