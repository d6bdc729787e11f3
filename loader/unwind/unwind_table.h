// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindTable: how to unwind from every address of one executable segment, in the form that the
// kernel side reads (bpf/unwind_table.h). Plain data; made by compile_unwind_tables().
#pragma once

#include "bpf/unwind_table.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace auger {

struct UnwindTable {
    // Addresses in the table are counted from here: the segment's address as linked, rounded down
    // to WIRE_UNWIND_PAGE.
    uint64_t base = 0;
    // Bytes of code from `base` that the table is about: up to the end of the last function that is
    // covered. pages has an entry for each WIRE_UNWIND_PAGE begun, and one more.
    uint64_t size = 0;
    std::vector<uint32_t> pages;
    std::vector<uint32_t> rows;
    std::vector<wire_unwind_rule> rules;

    // The rule at an address as linked. Null where nothing is covered.
    const wire_unwind_rule* find(uint64_t address) const;
    // Whether every index in it is within bounds, so that find() and the kernel side read nothing
    // else whatever address they look for.
    bool valid() const;

    // wire_unwind_mapping::bias of a mapping that begins at `start` and there holds what is linked
    // to `linked_start` (ElfFile::address_of_offset() of the mapping's file offset, taken from the
    // segment: an offset before the segment's first byte stands for an address before it).
    uint64_t bias(uint64_t start, uint64_t linked_start) const {
        return start - linked_start + base;
    }
    size_t memory_size() const { // bytes
        return (pages.size() + rows.size()) * sizeof(uint32_t) +
               rules.size() * sizeof(wire_unwind_rule);
    }
    friend bool operator==(const UnwindTable&, const UnwindTable&);
};

bool operator==(const UnwindTable& a, const UnwindTable& b);

} // namespace auger
