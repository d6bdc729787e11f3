// SPDX-License-Identifier: GPL-3.0-or-later
//
// A library with a USDT probe of its own, which other processes map as well.
#include "usdt_probe.h"

USDT_SEMAPHORE(shipped_semaphore);

void ship(uint64_t id);
unsigned shipped_listeners(void);

__attribute__((noinline)) void ship(uint64_t id) {
    __asm__ volatile(USDT_PROBE("nop", "shop", "shipped", "shipped_semaphore", "8@%0") : : "r"(id));
}

unsigned shipped_listeners(void) {
    return shipped_semaphore;
}
