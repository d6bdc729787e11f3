// SPDX-License-Identifier: GPL-3.0-or-later
//
// The library that late_library loads while it is being observed.
#include "common/truth.h"

TIMED uint64_t late_work(uint64_t value) {
    return value * 17 + 4;
}
