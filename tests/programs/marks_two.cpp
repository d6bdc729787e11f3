// SPDX-License-Identifier: GPL-3.0-or-later
//
// Another source of `marks`, with the same template for the same type and for another.
#include "marks.h"

uint64_t convert_elsewhere(uint64_t id) {
    return convert(id) + static_cast<uint64_t>(convert(static_cast<int>(id)));
}
