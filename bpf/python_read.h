/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Reading CPython's structures, as their layout says. All that is read may be anything. */
#ifndef AUGER_PYTHON_READ_H
#define AUGER_PYTHON_READ_H

#include "maps.h"
#include "unwind.h"
#include "user_memory.h"

/* By number. Written by user space, read by walks and the call tracker. */
struct python_layouts_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_PYTHON_LAYOUTS);
    __type(key, u32);
    __type(value, struct wire_python_layout);
};

extern struct python_layouts_map python_layouts SEC(".maps");

/* Goes to the current thread's innermost frame, walk->python.frame. False: it has none. */
int find_python_thread(struct stack_walk* walk, const struct wire_python_layout* layout);

static __always_inline struct wire_python_layout* layout_of(const struct stack_walk* walk) {
    u32 number = walk->process.python_layout;

    return bpf_map_lookup_elem(&python_layouts, &number);
}

/* Members of what was read last. */
static __always_inline u64 word_of(const struct stack_walk* walk, u32 offset) {
    return walk->python.words[(offset & (PYTHON_BYTES - 1)) / sizeof(u64)];
}

static __always_inline u32 half_of(const struct stack_walk* walk, u32 offset) {
    const u32* halves = (const void*)walk->python.words;

    return halves[(offset & (PYTHON_BYTES - 1)) / sizeof(u32)];
}

static __always_inline u8 byte_of(const struct stack_walk* walk, u32 offset) {
    const u8* bytes = (const void*)walk->python.words;

    return bytes[offset & (PYTHON_BYTES - 1)];
}

/* Reads a frame, before its members are asked for. */
static __always_inline bool read_frame_words(struct stack_walk* walk,
                                             const struct wire_python_layout* layout, u64 frame) {
    return !bpf_probe_read_user(walk->python.words, layout->frame_bytes & (PYTHON_BYTES - 1),
                                (void*)frame);
}

#endif
