/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Which task of tokio's a thread polls. */
#ifndef AUGER_TOKIO_H
#define AUGER_TOKIO_H

#include "kernel_types.h"
#include "unwind_table.h"
#include "user_memory.h"

#include ARCH(types.h)

/* The number of the current thread's; 0: it polls none, or that cannot be read now. */
static __always_inline u64 find_tokio_task(const struct wire_tokio_task* place) {
    u64 thread = bpf_get_current_task_btf()->THREAD_POINTER, id = 0, is_some = 1;

    if (place->is_some && !read_word(thread + (s64)place->is_some, &is_some))
        return 0;
    return is_some == 1 && read_word(thread + (s64)place->id, &id) ? id : 0;
}

#endif
