// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/dwarf/dwarf_walk.h"

#include <dwarf.h>

namespace auger {

bool may_hold_functions(int tag) {
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type: // Rust puts methods there
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        return true;
    default:
        return false;
    }
}

} // namespace auger
