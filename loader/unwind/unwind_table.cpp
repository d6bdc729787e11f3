// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/unwind_table.h"

#include "loader/arch/arch.h"

#include ARCH(dwarf_register.h)

#include <algorithm>
#include <cstring>

namespace auger {
namespace {

constexpr uint32_t offset_mask = WIRE_UNWIND_PAGE - 1;

uint32_t rule_of(uint32_t row) {
    return row >> WIRE_UNWIND_PAGE_BITS;
}

bool valid_rule(const wire_unwind_rule& rule) {
    return rule.cfa <= WIRE_CFA_GOROUTINE && rule.cfa_register <= register_last_general &&
           rule.rbp_saved <= WIRE_SAVED_LOST && rule.rbx_saved <= WIRE_SAVED_LOST &&
           rule.return_kind <= WIRE_RETURN_GOROUTINE &&
           rule.return_register <= register_last_general;
}

} // namespace

const wire_unwind_rule* UnwindTable::find(uint64_t address) const {
    if (address < base || address - base >= size)
        return nullptr;
    const uint64_t offset = address - base;
    const uint64_t page = offset >> WIRE_UNWIND_PAGE_BITS;
    const auto begin = rows.begin() + pages[page];
    const auto end = rows.begin() + pages[page + 1];
    // The last row at or before the address; in this page, or the last one before it.
    auto after =
        std::upper_bound(begin, end, static_cast<uint32_t>(offset & offset_mask),
                         [](uint32_t place, uint32_t row) { return place < (row & offset_mask); });
    if (after == rows.begin())
        return nullptr;
    const uint32_t rule = rule_of(*(after - 1));
    return rule == 0 ? nullptr : &rules[rule];
}

bool UnwindTable::valid() const {
    const uint64_t page_count = size / WIRE_UNWIND_PAGE + (size % WIRE_UNWIND_PAGE != 0);
    return base % WIRE_UNWIND_PAGE == 0 && pages.size() == page_count + 1 && pages.front() == 0 &&
           pages.back() == rows.size() && std::is_sorted(pages.begin(), pages.end()) &&
           !rules.empty() && rules.size() <= WIRE_UNWIND_MAX_RULES &&
           rules[0].cfa == WIRE_CFA_NONE && std::all_of(rules.begin(), rules.end(), valid_rule) &&
           std::all_of(rows.begin(), rows.end(),
                       [this](uint32_t row) { return rule_of(row) < rules.size(); });
}

bool operator==(const UnwindTable& a, const UnwindTable& b) {
    return a.base == b.base && a.size == b.size && a.pages == b.pages && a.rows == b.rows &&
           a.rules.size() == b.rules.size() &&
           std::memcmp(a.rules.data(), b.rules.data(), a.rules.size() * sizeof(wire_unwind_rule)) ==
               0;
}

} // namespace auger
