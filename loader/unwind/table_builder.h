// SPDX-License-Identifier: GPL-3.0-or-later
// TableBuilder: takes functions with their rows in any order and makes one UnwindTable of them:
// sorted, free of overlaps, with neighbours of one rule joined.
#pragma once

#include "loader/unwind/call_frame_information.h"
#include "loader/unwind/rule_set.h"
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
    // What was told from code alone. The rows ascend and lie in [begin, end), which holds() it.
    bool add(uint64_t begin, uint64_t end, std::span<const FrameRow> rows);
    bool holds(uint64_t begin, uint64_t end) const { return begin >= begin_ && end <= end_; }
    bool empty() const;
    // Where functions were added, as linked, by their begins.
    std::vector<std::pair<uint64_t, uint64_t>> covered() const;

    // Where functions overlap, the one that begins later is believed, but one of .eh_frame rather
    // than one of .debug_frame, and both rather than what was told from code. What had to give way
    // is counted in `skipped`.
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
    static constexpr size_t from_code = 2;
    std::vector<Part> parts_[3]; // by FrameSectionKind, then from_code: the best first
    RuleSet rules_;
};

} // namespace auger
