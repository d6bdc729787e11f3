// SPDX-License-Identifier: GPL-3.0-or-later
// arc4random(3), which glibc has since 2.36, for std::random_device of libstdc++.a.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

uint32_t arc4random(void);

uint32_t arc4random(void) {
    uint32_t number = 0;
    if (getentropy(&number, sizeof number) != 0)
        abort();
    return number;
}
