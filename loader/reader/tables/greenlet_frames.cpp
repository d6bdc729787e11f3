// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/greenlet_frames.h"

#include <filesystem>
#include <string_view>

namespace auger {
namespace {

// Calls what the greenlet is to run, and never returns. Its parameters differ between versions.
constexpr std::string_view begin_of_greenlets = "_ZN8greenlet12UserGreenlet15inner_bootstrapE";

} // namespace

void add_greenlet_begins(const ElfFile& file, TableBuilder& builder) {
    // Looking at all names of every file would take too long.
    if (!std::filesystem::path(file.name()).filename().string().starts_with("_greenlet."))
        return;
    for (const ElfFunction& function : file.functions()) {
        const uint64_t end = function.address + function.size;
        const FrameRow outermost{function.address, wire_rule(WIRE_CFA_END)};
        if (function.name.starts_with(begin_of_greenlets) && builder.holds(function.address, end))
            builder.add(function.address, end, {&outermost, 1}, TableBuilder::Source::runtime);
    }
}

} // namespace auger
