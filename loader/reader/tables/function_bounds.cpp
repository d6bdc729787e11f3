// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/function_bounds.h"

#include "loader/reader/tables/frame_sections.h"

#include <algorithm>

namespace auger {

FunctionBounds::FunctionBounds(const ElfFile& file) {
    const FrameSections frames = FrameSections::read(file);
    for (const FrameSection& section : frames.sections) {
        CallFrameInformation information(section.content, section.kind, section.bases);
        while (const auto function = information.next())
            bounds_.push_back({function->begin, function->end});
    }
    std::ranges::sort(bounds_, {}, &Bounds::begin);
}

std::optional<uint64_t> FunctionBounds::begin_of(uint64_t address) const {
    const auto behind = std::ranges::upper_bound(bounds_, address, {}, &Bounds::begin);
    if (behind == bounds_.begin() || address >= std::prev(behind)->end)
        return std::nullopt;
    return std::prev(behind)->begin;
}

} // namespace auger
