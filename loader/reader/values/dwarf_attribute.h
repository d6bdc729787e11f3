// SPDX-License-Identifier: GPL-3.0-or-later
// Single attributes of a DIE, and its children within bounds.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>

namespace auger {

inline constexpr size_t child_limit = 100'000;

std::optional<uint64_t> dwarf_number(Dwarf_Die die, unsigned name);
std::optional<int64_t> dwarf_signed_number(Dwarf_Die die, unsigned name);
bool dwarf_flag(Dwarf_Die die, unsigned name);
// The DIE's own name, or that of the declaration or abstract function that it completes.
std::string dwarf_name(Dwarf_Die die);

// `use` returns false to end.
template <typename Use>
void for_each_child(Dwarf_Die parent, Use use) {
    Dwarf_Die child;
    if (!parent.addr || dwarf_child(&parent, &child) != 0)
        return;
    for (size_t i = 0; i < child_limit && use(child); ++i) {
        Dwarf_Die next;
        if (dwarf_siblingof(&child, &next) != 0)
            return;
        child = next;
    }
}

} // namespace auger
