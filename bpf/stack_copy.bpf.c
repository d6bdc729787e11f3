// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Copies of stacks that could not be walked yet: of processes that have just begun, and of modules
// whose tables are being made. User space goes on with the walk where the kernel side left it.
#include "maps.h"
#include "unwind.h"

#include ARCH(registers.h)

enum {
    SECOND_NS = 1000000000,
};

/* One element. Private to the sampler, on one CPU. */
struct copies_of_second {
    u64 second;
    u32 count;
    u32 padding;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct copies_of_second);
} stack_copies SEC(".maps");

// Without a bound a process whose code nobody can tell would fill the ring.
static __always_inline bool is_copy_allowed(void) {
    u64 second = bpf_ktime_get_ns() / SECOND_NS;
    u32 zero = 0, pid = bpf_get_current_pid_tgid() >> 32;
    struct copies_of_second* copies = bpf_map_lookup_elem(&stack_copies, &zero);

    // auger's own stack, by which a sample's cost is measured, stands for those of processes that
    // are known.
    if (!copies || pid == own_pid)
        return false;
    if (copies->second != second) {
        copies->second = second;
        copies->count = 0;
    }
    return copies->count++ < WIRE_STACK_COPIES;
}

static __always_inline bool is_wait_for_tables(u64 word) {
    return word == (WIRE_STACK_CUT | WIRE_STOP_NO_MAPPING) ||
           word == (WIRE_STACK_CUT | WIRE_STOP_PENDING);
}

__noinline int copy_stack(const struct stack_walk* walk, struct stack_copy* copy) {
    u64 from;
    u32 last, bytes = 0;

    if (!walk || !copy)
        return 0;
    last = walk->count - 1; /* of none, it is out of bounds */
    if (last >= WIRE_STACK_WORDS || !is_wait_for_tables(walk->frames[last]) || !is_copy_allowed())
        return 0;
    copy->head.sp = walk->sp;
    copy->head.bp = walk->bp;
    copy->head.bx = walk->bx;
    copy->head.bx_state = walk->bx_state;
    copy->head.chain_stop = walk->chain.stop;
    from = (walk->sp - RED_ZONE) & ~7ull;
    copy->head.start = from;
    // By pages: the last one of a stack is followed by nothing.
    for (u32 i = 0; i <= WIRE_STACK_COPY / STACK_PAGE && bytes < WIRE_STACK_COPY; i++) {
        u32 size = STACK_PAGE - (from & (STACK_PAGE - 1));

        if (bpf_probe_read_user(&copy->stack[bytes], size & (2 * STACK_PAGE - 1), (void*)from))
            break;
        bytes += size;
        from += size;
    }
    if (bytes > WIRE_STACK_COPY)
        bytes = WIRE_STACK_COPY;
    copy->head.bytes = bytes;
    return bytes ? sizeof(copy->head) + bytes : 0;
}
