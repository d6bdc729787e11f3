// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/unwind_compiler.h"

#include "loader/reader/tables/go_frames.h"
#include "loader/reader/tables/greenlet_frames.h"
#include "loader/reader/tables/table_builder.h"
#include "loader/reader/tables/uncovered_code.h"

#include <algorithm>

namespace auger {
namespace {

void add_section(std::vector<TableBuilder>& builders, const FrameSection& section,
                 UnwindStatistics& statistics) {
    CallFrameInformation information(section.content, section.kind, section.bases);
    const auto skip = [&](FrameSkip cause) { ++statistics.skipped[static_cast<size_t>(cause)]; };
    while (const auto function = information.next()) {
        const auto builder =
            std::find_if(builders.begin(), builders.end(),
                         [&](const TableBuilder& candidate) { return candidate.holds(*function); });
        if (builder == builders.end())
            skip(FrameSkip::outside);
        else if (builder->add(*function, section.kind))
            ++statistics.functions;
        else
            skip(FrameSkip::limit);
    }
    for (size_t i = 0; i < statistics.skipped.size(); ++i)
        statistics.skipped[i] += information.skipped()[i];
}

std::vector<TableBuilder> builders_of(std::span<const ElfSegment> segments,
                                      std::span<const FrameSection> sections,
                                      UnwindStatistics& statistics) {
    std::vector<TableBuilder> builders;
    for (const ElfSegment& segment : segments)
        if (segment.executable)
            builders.emplace_back(segment.address, segment.address + segment.memory_size);
    for (const FrameSection& section : sections)
        add_section(builders, section, statistics);
    return builders;
}

UnwindTables finish(std::vector<TableBuilder>& builders, const UnwindStatistics& statistics) {
    UnwindTables result{{}, statistics};
    for (TableBuilder& builder : builders) {
        if (builder.empty())
            continue;
        const UnwindTable& table =
            result.tables.emplace_back(builder.finish(result.statistics.skipped));
        result.statistics.rows += table.rows.size();
        for (const uint32_t row : table.rows)
            if (table.rules[row >> WIRE_UNWIND_PAGE_BITS].cfa == WIRE_CFA_UNSUPPORTED)
                ++result.statistics.unsupported_rows;
    }
    return result;
}

} // namespace

UnwindTables compile_unwind_tables(std::span<const ElfSegment> segments,
                                   std::span<const FrameSection> sections) {
    UnwindStatistics statistics;
    std::vector<TableBuilder> builders = builders_of(segments, sections, statistics);
    return finish(builders, statistics);
}

Result<UnwindTables> compile_unwind_tables(const ElfFile& file) {
    const FrameSections frames = FrameSections::read(file);
    UnwindStatistics statistics;
    std::vector<TableBuilder> builders = builders_of(file.segments(), frames.sections, statistics);
    for (TableBuilder& builder : builders) {
        statistics.go_functions += add_go_functions(file, builder);
        add_greenlet_begins(file, builder);
        statistics.code_functions += add_uncovered_code(file, builder);
    }
    UnwindTables tables = finish(builders, statistics);
    if (tables.tables.empty() && !frames.unreadable.empty())
        return Error{"read call frame information",
                     file.name() + " " + frames.unreadable,
                     "it lies outside the file or is larger than 96 MB",
                     {}};
    return tables;
}

} // namespace auger
