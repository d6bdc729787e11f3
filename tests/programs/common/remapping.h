// SPDX-License-Identifier: GPL-3.0-or-later
// A thread that changes a mapping all the time, so that the kernel can seldom tell at once what is
// mapped: the lock of the mappings is taken.
#pragma once

#include "common/truth.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

static void* remap_often(void* unused) {
    const size_t size = 16 << 20; // takes the kernel some time
    truth_name_thread("remap");
    void* pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    truth_expect(pages != MAP_FAILED, "cannot map memory");
    for (int turn = 0; truth_running(); turn++)
        mprotect(pages, size, turn % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE);
    munmap(pages, size);
    return unused;
}

// Until the program ends.
static void start_remapping(void) {
    pthread_t thread;
    truth_expect(pthread_create(&thread, NULL, remap_often, NULL) == 0, "cannot start a thread");
    pthread_detach(thread);
}
