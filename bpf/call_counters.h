// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// What is counted of calls, by spec and CPU, and which spec a cookie means. Of the call tracker
// alone.
#ifndef AUGER_CALL_COUNTERS_H
#define AUGER_CALL_COUNTERS_H

#include "maps.h"

#include ARCH(calls.h)

/* Counters, [spec][cpu]: written by the tracker, mapped by user space, which also sizes it. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct wire_call_counters);
} call_counters SEC(".maps");

/* Histograms of WIRE_SPECS_PER_BLOCK specs, [spec in block][cpu]: written and mapped likewise; user
 * space makes a block when it first uses a spec of it. */
struct histogram_block {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(u32));
    /* By size: clang 14 gives the value's type no body inside a map of maps. */
    __uint(value_size, sizeof(struct wire_call_histogram));
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, WIRE_MAX_SPECS / WIRE_SPECS_PER_BLOCK);
    __type(key, u32);
    __array(values, struct histogram_block);
} histogram_blocks SEC(".maps");

/* How many returned calls of a spec had a mark; key: the spec's cookie without its flags, and the
 * mark's bit (see mark_key). Elements are made by user space, which reads them; counted by the
 * tracker. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, WIRE_MAX_SPECS * 4);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u64);
    __type(value, struct wire_mark_count);
} mark_counts SEC(".maps");

/* By spec. Written by user space before the spec's probes are attached, read by the tracker. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_MAX_SPECS);
    __type(key, u32);
    __type(value, struct wire_go_runtime);
} go_runtimes SEC(".maps");

/* By spec. Elements are made by user space, which reads them; counted by the tracker. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, WIRE_MAX_SPECS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u32);
    __type(value, struct wire_go_counts);
} go_counts SEC(".maps");

/* Of lines and goroutines' ends, by what wire.h says; tracker writes, user space reads. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WIRE_OTHER_HITS);
    __type(key, u32);
    __type(value, u64);
} other_hits SEC(".maps");

static __always_inline void count_other_hit(u32 index) {
    u64* hits = bpf_map_lookup_elem(&other_hits, &index);

    if (hits)
        __sync_fetch_and_add(hits, 1);
}

static __always_inline struct wire_call_counters* counters_of(u32 spec) {
    u32 index = spec * cpu_ids + bpf_get_smp_processor_id();

    return bpf_map_lookup_elem(&call_counters, &index);
}

/* What trace_slow_call() took. */
static __always_inline void count_tracing(u32 spec, u64 ns) {
    struct wire_call_counters* counters = ns ? counters_of(spec) : NULL;

    if (counters)
        __sync_fetch_and_add(&counters->tracing_ns, ns);
}

static __always_inline struct wire_call_histogram* histogram_of(u32 spec) {
    u32 block_index = spec / WIRE_SPECS_PER_BLOCK;
    u32 index = (spec % WIRE_SPECS_PER_BLOCK) * cpu_ids + bpf_get_smp_processor_id();
    void* block = bpf_map_lookup_elem(&histogram_blocks, &block_index);

    return block ? bpf_map_lookup_elem(block, &index) : NULL;
}

static __always_inline u32 spec_index(u64 cookie) {
    return cookie & WIRE_COOKIE_SPEC_MASK;
}

static __always_inline u64 mark_key(u16 spec, u16 generation, u32 bit) {
    return (u64)generation << WIRE_COOKIE_GENERATION_SHIFT | (u64)bit << 16 | spec;
}

static __always_inline u16 generation_of(u64 cookie) {
    return cookie >> WIRE_COOKIE_GENERATION_SHIFT;
}

// The spec may become another function's at any time: whose it was is what the cookie says.
static __always_inline struct wire_spec* spec_of_cookie(u64 cookie) {
    u32 index = spec_index(cookie);
    struct wire_spec* spec = bpf_map_lookup_elem(&specs, &index);

    return spec && spec->generation == generation_of(cookie) && (spec->flags & WIRE_SPEC_ENABLED)
               ? spec
               : NULL;
}

// Lowers *place to `value`, or raises it. Tries again when another thread on this CPU was quicker.
static __always_inline void note_extreme(u64* place, u64 value, bool lower) {
    u64 seen = *place;

    for (int tries = 0; tries < 4; tries++) {
        u64 found;

        if (seen && (lower ? value >= seen : value <= seen))
            return;
        found = __sync_val_compare_and_swap(place, seen, value);
        if (found == seen)
            return;
        seen = found;
    }
}

#endif
