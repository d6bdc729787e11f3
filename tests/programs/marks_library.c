// SPDX-License-Identifier: GPL-3.0-or-later
//
// The part of `marks` that is written in C: it ends what others began.
#include "marks.h"

void ship(uint64_t id) {
    AUGER_SPAN_END(checkout, id);
}
