// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/frame_sections.h"

#include <utility>

namespace auger {

namespace {
// Of a gigabyte of code. Whatever fills it, it is read in a second.
constexpr size_t section_limit = size_t{96} << 20;
} // namespace

FrameSections FrameSections::read(const ElfFile& file) {
    const auto address_of = [&](std::string_view name) {
        const auto section = file.section(name);
        return section ? section->address : 0;
    };
    const uint64_t data =
        file.has_section(".got.plt") ? address_of(".got.plt") : address_of(".got");
    FrameSections result;
    for (const auto& [name, kind] : {std::pair(".eh_frame", FrameSectionKind::eh_frame),
                                     std::pair(".debug_frame", FrameSectionKind::debug_frame)}) {
        const auto section = file.section(name);
        if (!section || section->size == 0)
            continue;
        result.contents.push_back(file.read_section(name, section_limit));
        if (result.contents.back().empty())
            result.unreadable = name;
        result.sections.push_back(
            {result.contents.back(), kind, {section->address, address_of(".text"), data}});
    }
    return result;
}

} // namespace auger
