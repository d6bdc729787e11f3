// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the program call_sites calls, and a site of it in a shared library.
#include "call_sites.h"

uint64_t work_calls;
struct call_site library_site = {.callee = "work"};

TIMED int work(int value) {
    truth_count(&work_calls);
    return value * 2 + 1;
}

TIMED void empty(void) {
    __asm__ volatile("");
}

TIMED int call_from_library(int value) {
    CALLING(library_site, 1); int result = work(value); truth_count(&library_site.returns);
    return result + 1;
}

TIMED int call_back(int (*function)(int), int value, struct call_site* account) {
    CALLING(*account, 1); int result = function(value); truth_count(&account->returns);
    return result + 1;
}
