// SPDX-License-Identifier: GPL-3.0-or-later
// TableBuilder: takes functions with their rows in any order and makes one UnwindTable of them:
// sorted, free of overlaps, with neighbours of one rule joined.
#pragma once

#include "loader/reader/tables/call_frame_information.h"
#include "loader/reader/tables/rule_set.h"
#include "loader/unwind/unwind_table.h"

#include <span>
#include <utility>

namespace auger {

class TableBuilder {
  public:
    // Of code at [begin, end), as linked.
    TableBuilder(uint64_t begin, uint64_t end);

    bool holds(const FrameFunction& function) const { return holds(function.begin, function.end); }
    // False when there are more functions or rows than in any honest file.
    bool add(const FrameFunction& function, FrameSectionKind source);
    // What else tells of code: the table that a language's own runtime unwinds by, or the
    // instructions alone. The rows ascend and lie in [begin, end), which holds() it.
    enum class Source : uint8_t { runtime, code };
    bool add(uint64_t begin, uint64_t end, std::span<const FrameRow> rows, Source source);
    bool holds(uint64_t begin, uint64_t end) const { return begin >= begin_ && end <= end_; }
    bool empty() const;
    // Where functions were added, as linked, by their begins.
    std::vector<std::pair<uint64_t, uint64_t>> covered() const;

    // Where functions overlap, the one that begins later is believed, but one of a runtime's table
    // rather than one of .eh_frame, that rather than one of .debug_frame (which Go's compiler makes
    // for functions that change stacks, too, as if they did not), and all rather than what was told
    // from code. What had to give way is counted in `skipped`.
    UnwindTable finish(FrameSkips& skipped);

  private:
    struct Row {
        uint32_t address; // from base_
        uint32_t rule;
    };
    // A function or what is left of it: addresses from base_, and the indices of its rows.
    struct Part {
        uint32_t begin, end;
        uint32_t first_row, last_row;
    };
    static void resolve_overlaps(std::vector<Part>& parts, FrameSkips& skipped);
    static std::vector<Part> united(const std::vector<Part>& first,
                                    const std::vector<Part>& second);
    bool full(size_t source) const;
    void add_row(const FrameRow& row);
    void add_part(size_t source, uint64_t begin, uint64_t end, size_t first_row);

    uint64_t begin_, end_, base_;
    std::vector<Row> rows_;
    // The best first: a runtime's table, then by FrameSectionKind, then code.
    static constexpr size_t from_runtime = 0, first_section = 1, from_code = 3;
    std::vector<Part> parts_[4];
    RuleSet rules_;
};

} // namespace auger
