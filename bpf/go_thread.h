/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Which goroutine a thread works for. */
#ifndef AUGER_GO_THREAD_H
#define AUGER_GO_THREAD_H

#include "kernel_types.h"
#include "unwind_table.h"
#include "user_memory.h"

#include ARCH(types.h)

/* The descriptor of the goroutine that the current thread works for, also while it runs C or the
 * runtime's own code; 0: it works for none. */
static __always_inline bool find_own_goroutine(const struct wire_go_labels* place, u64* g) {
    u64 thread = bpf_get_current_task_btf()->THREAD_POINTER;

    *g = 0;
    if (!read_word(thread + (s64)place->thread_g, g))
        return false;
    // A thread of C's, of which the runtime does not know.
    return !*g || (read_word(*g + place->g_m, g) && read_word(*g + place->m_curg, g));
}

#endif
