/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Reading the current process's memory: what is there may be anything, or nothing. */
#ifndef AUGER_USER_MEMORY_H
#define AUGER_USER_MEMORY_H

#include "kernel_types.h"

static __always_inline bool read_word(u64 address, u64* word) {
    return !bpf_probe_read_user(word, sizeof(*word), (void*)address);
}

#endif
