/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Return addresses that return probes have replaced: by that of the kernel's trampoline, which is
 * the first of the instructions that it has in a mapping of its own. */
#ifndef AUGER_RETURN_PROBES_H
#define AUGER_RETURN_PROBES_H

#include "kernel_types.h"

enum { MAX_RETURN_INSTANCES = 64 }; /* the kernel's own limit */

/* Of the current thread. */
static __always_inline bool is_return_probe(u64 address) {
    return address &&
           address == BPF_CORE_READ(bpf_get_current_task_btf(), mm, uprobes_state.xol_area, vaddr);
}

/* The return address that stood at `slot`; 0: none was replaced there. `instance` is the thread's
 * innermost return_instance. */
u64 find_return_address(u64 instance, u64 slot);

#endif
