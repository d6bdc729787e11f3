// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/table_builder.h"

#include <algorithm>
#include <tuple>

namespace auger {
namespace {

// Ten times what the largest browsers have; they bound what a lying file can cost.
constexpr size_t most_rows = size_t{1} << 24;
constexpr size_t most_functions = size_t{1} << 23;
constexpr uint64_t most_code = uint64_t{1} << 31;

// Compilers and linkers fill up to a multiple of this with instructions that are never reached.
constexpr uint32_t code_alignment = 16;

uint64_t& of(FrameSkips& skipped, FrameSkip cause) {
    return skipped[static_cast<size_t>(cause)];
}

// Rows by ascending address, as tables hold them.
class RowWriter {
  public:
    explicit RowWriter(UnwindTable& table) : table_(table) {}

    void add(uint32_t address, uint32_t rule) {
        if (rule == last_rule_)
            return;
        last_rule_ = rule;
        fill_pages(address >> WIRE_UNWIND_PAGE_BITS);
        table_.rows.push_back(rule << WIRE_UNWIND_PAGE_BITS | (address & (WIRE_UNWIND_PAGE - 1)));
    }
    void finish(uint32_t end) {
        const uint32_t pages = (end + WIRE_UNWIND_PAGE - 1) >> WIRE_UNWIND_PAGE_BITS;
        // So that the rest of the last page is not taken for a part of the last function.
        if (end & (WIRE_UNWIND_PAGE - 1))
            add(end, 0);
        fill_pages(pages);
        table_.size = end;
    }

  private:
    // No row of `page` has been written yet.
    void fill_pages(uint32_t page) {
        if (table_.pages.size() <= page)
            table_.pages.resize(page + 1, static_cast<uint32_t>(table_.rows.size()));
    }

    UnwindTable& table_;
    uint32_t last_rule_ = 0; // before the first row nothing is covered
};

} // namespace

TableBuilder::TableBuilder(uint64_t begin, uint64_t end)
    : begin_(begin), end_(std::min(end, begin + std::min(most_code, ~begin))),
      base_(begin & ~uint64_t{WIRE_UNWIND_PAGE - 1}) {}

bool TableBuilder::full(size_t source) const {
    return parts_[source].size() == most_functions || rows_.size() == most_rows;
}

void TableBuilder::add_row(const FrameRow& row) {
    if (rows_.size() < most_rows)
        rows_.push_back({static_cast<uint32_t>(row.address - base_), rules_.number(row.rule)});
}

void TableBuilder::add_part(size_t source, uint64_t begin, uint64_t end, size_t first_row) {
    parts_[source].push_back({static_cast<uint32_t>(begin - base_),
                              static_cast<uint32_t>(end - base_), static_cast<uint32_t>(first_row),
                              static_cast<uint32_t>(rows_.size())});
}

bool TableBuilder::add(const FrameFunction& function, FrameSectionKind kind) {
    const size_t source = first_section + static_cast<size_t>(kind);
    if (full(source))
        return false;
    const size_t first_row = rows_.size();
    if (function.common->signal) {
        // The kernel made these frames: it is known where it put the registers.
        add_row({function.begin, wire_rule(WIRE_CFA_SIGNAL)});
    } else {
        FrameProgram program = function.program();
        for (FrameRow row; rows_.size() < most_rows && program.next(row);)
            add_row(row);
    }
    add_part(source, function.begin, function.end, first_row);
    return true;
}

bool TableBuilder::add(uint64_t begin, uint64_t end, std::span<const FrameRow> rows,
                       Source teller) {
    const size_t source = teller == Source::runtime ? from_runtime : from_code;
    if (full(source))
        return false;
    const size_t first_row = rows_.size();
    for (const FrameRow& row : rows)
        add_row(row);
    add_part(source, begin, end, first_row);
    return true;
}

bool TableBuilder::empty() const {
    return std::all_of(std::begin(parts_), std::end(parts_),
                       [](const std::vector<Part>& parts) { return parts.empty(); });
}

std::vector<std::pair<uint64_t, uint64_t>> TableBuilder::covered() const {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const std::vector<Part>& parts : parts_)
        for (const Part& part : parts)
            ranges.emplace_back(base_ + part.begin, base_ + part.end);
    std::sort(ranges.begin(), ranges.end());
    return ranges;
}

// In file order among those that begin at one address, of which the first is kept.
void TableBuilder::resolve_overlaps(std::vector<Part>& parts, FrameSkips& skipped) {
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
        return std::tie(a.begin, a.first_row) < std::tie(b.begin, b.first_row);
    });
    const auto same_begin = [](const Part& a, const Part& b) { return a.begin == b.begin; };
    const auto kept = std::unique(parts.begin(), parts.end(), same_begin);
    of(skipped, FrameSkip::overlap) += static_cast<uint64_t>(parts.end() - kept);
    parts.erase(kept, parts.end());
    for (size_t i = 1; i < parts.size(); ++i) {
        if (parts[i - 1].end <= parts[i].begin)
            continue;
        parts[i - 1].end = parts[i].begin;
        ++of(skipped, FrameSkip::overlap);
    }
}

// All of the first, and those of the second that do not overlap any of it. Both are in order and
// free of overlaps.
std::vector<TableBuilder::Part> TableBuilder::united(const std::vector<Part>& first,
                                                     const std::vector<Part>& second) {
    std::vector<Part> all;
    all.reserve(first.size() + second.size());
    auto next = first.begin();
    for (const Part& part : second) {
        for (; next != first.end() && next->end <= part.begin; ++next)
            all.push_back(*next);
        if (next == first.end() || next->begin >= part.end)
            all.push_back(part);
    }
    all.insert(all.end(), next, first.end());
    return all;
}

UnwindTable TableBuilder::finish(FrameSkips& skipped) {
    UnwindTable table;
    table.base = base_;
    RowWriter writer(table);
    std::vector<Part> all;
    for (std::vector<Part>& parts : parts_) {
        resolve_overlaps(parts, skipped);
        all = united(all, parts);
    }
    uint32_t covered = 0; // up to here
    for (const Part& part : all) {
        const uint32_t gap = part.begin - covered;
        if (gap >= code_alignment || part.begin % code_alignment != 0)
            if (gap > 0)
                writer.add(covered, 0);
        for (uint32_t i = part.first_row; i < part.last_row && rows_[i].address < part.end; ++i)
            writer.add(rows_[i].address, rows_[i].rule);
        covered = part.end;
    }
    writer.finish(covered);
    table.rules = rules_.rules();
    return table;
}

} // namespace auger
