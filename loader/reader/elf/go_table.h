// SPDX-License-Identifier: GPL-3.0-or-later
// GoTable: the table of functions that Go's linker leaves in every program, stripped or not
// (.gopclntab), for its own tracebacks: where each function begins, its name, and at each
// instruction how far the stack pointer is below where it was. Of Go 1.2 to 1.26. Hostile like all
// content of files: what lies outside the table is left out.
#pragma once

#include "loader/reader/elf/go_table_layout.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace auger {

struct GoFunction {
    uint64_t begin, end; // as linked
    std::string_view name;
    bool outermost;  // nothing has called it: goroutines and threads begin with it
    bool changes_sp; // in a way that the table does not tell
    std::span<const std::byte> description; // see GoTableLayout
};

// From `address` on the stack pointer is `depth` bytes below where it was when the function began.
struct GoStackRow {
    uint64_t address;
    int64_t depth;
};

class GoTable {
  public:
    // `content` must outlive the table, and the names. `text`: where Go's code begins, for tables
    // that leave it to the dynamic linker to fill that in. Nothing when it is no such table.
    static std::optional<GoTable> read(std::span<const std::byte> content, uint64_t text);

    // Where the address of the code stands in those tables.
    static constexpr uint64_t text_offset = 24;
    // Where in `data` a table seems to begin; the data's size when there is none.
    static size_t find(std::span<const std::byte> data);

    // Sorted by address, free of overlaps.
    const std::vector<GoFunction>& functions() const { return functions_; }
    // The one that holds the address; null when none does.
    const GoFunction* containing(uint64_t address) const;
    const GoFunction* named(std::string_view name) const;
    // Ascending, the first at the function's begin; none when they are broken.
    std::vector<GoStackRow> stack_rows(const GoFunction& function) const;
    const GoTableLayout& layout() const { return layout_; }

  private:
    explicit GoTable(const GoTableLayout& layout) : layout_(layout) {}

    GoTableLayout layout_;
    std::vector<GoFunction> functions_;
};

} // namespace auger
