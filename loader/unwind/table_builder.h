// SPDX-License-Identifier: GPL-3.0-or-later
// TableBuilder: takes functions with their rows in any order and makes one UnwindTable of them:
// sorted, free of overlaps, with neighbours of one rule joined.
#pragma once

#include "loader/unwind/call_frame_information.h"
#include "loader/unwind/rule_set.h"
#include "loader/unwind/unwind_table.h"

namespace auger {

class TableBuilder {
  public:
    // Of code at [begin, end), as linked.
    TableBuilder(uint64_t begin, uint64_t end);

    bool holds(const FrameFunction& function) const {
        return function.begin >= begin_ && function.end <= end_;
    }
    // False when there are more functions or rows than in any honest file.
    bool add(const FrameFunction& function, FrameSectionKind source);
    bool empty() const { return parts_[0].empty() && parts_[1].empty(); }

    // Where functions overlap, the one that begins later is believed, and one of .eh_frame rather
    // than one of .debug_frame. What had to give way is counted in `skipped`.
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
    std::vector<Part> all_parts(FrameSkips& skipped);

    uint64_t begin_, end_, base_;
    std::vector<Row> rows_;
    std::vector<Part> parts_[2]; // by FrameSectionKind
    RuleSet rules_;
};

} // namespace auger
