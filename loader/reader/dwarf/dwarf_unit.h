// SPDX-License-Identifier: GPL-3.0-or-later
// DwarfUnit: one compile unit's functions and inlined copies as a flat sorted table, so that an
// address is one binary search. Asking libdw for the scopes of an address walks the whole unit each
// time (130 addresses a second).
#pragma once

#include "loader/symbols/progress.h"
#include "loader/symbols/source_frame.h"

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace auger {

class DwarfUnit {
  public:
    // `unit` is the unit's DIE; its Dwarf must outlive this. Damaged or excessive parts are left
    // out.
    DwarfUnit(Dwarf_Die unit, const WorkProgress& progress);

    // Innermost first; empty when the unit knows nothing of the address. Functions are as in the
    // file: mangled where there is a linkage name.
    std::vector<SourceFrame> frames(uint64_t address);
    size_t bytes() const;

  private:
    static constexpr uint32_t none = UINT32_MAX;

    struct Function {
        Dwarf_Off die;
        uint32_t parent; // the function around an inlined copy
        uint32_t call_file;
        uint32_t call_line;
        bool inlined;
    };
    struct Range {
        uint64_t low;
        uint64_t high;
        uint32_t function;
    };
    // From `low` up to the next one's, `function` is the innermost.
    struct Segment {
        uint64_t low;
        uint32_t function;
    };

    void collect(const WorkProgress& progress);
    uint32_t add_function(Dwarf_Die& die, uint32_t parent, bool inlined);
    void flatten();
    const std::string& name_of(uint32_t function);
    std::string file_of(uint32_t index) const;

    Dwarf* dwarf_;
    Dwarf_Die unit_;
    std::vector<Function> functions_; // in the order of the tree: parents first
    std::vector<Range> ranges_;       // empty once flattened
    std::vector<Segment> segments_;
    std::unordered_map<uint32_t, std::string> names_;
};

} // namespace auger
