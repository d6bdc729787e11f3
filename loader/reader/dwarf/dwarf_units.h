// SPDX-License-Identifier: GPL-3.0-or-later
// The units of .debug_info, one after the other. Hardly ever changes.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>

namespace auger {

inline constexpr size_t unit_limit = 1'000'000;

// Calls use(DIE, type), with a type as DW_UT_compile, for each unit until that returns false; for
// `unit_limit` at most.
template <typename Use>
void for_each_unit(Dwarf* dwarf, Use use) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    uint8_t type;
    for (size_t i = 0; i < unit_limit; ++i)
        if (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, nullptr) != 0 ||
            !use(die, type))
            return;
}

} // namespace auger
