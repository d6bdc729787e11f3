// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
#include "return_probes.h"

__noinline u64 find_return_address(u64 instance, u64 slot) {
    for (u32 i = 0; i < MAX_RETURN_INSTANCES; i++) {
        const struct return_instance* at = (void*)instance;

        if (!instance)
            break;
        if (BPF_CORE_READ(at, stack) == slot)
            return BPF_CORE_READ(at, orig_ret_vaddr);
        instance = (u64)BPF_CORE_READ(at, next);
    }
    return 0;
}
