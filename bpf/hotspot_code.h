// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// From an address to the block of HotSpot's code that it lies in. Of the walk alone. All that is
// read may be anything: it is the process's.
#ifndef AUGER_HOTSPOT_CODE_H
#define AUGER_HOTSPOT_CODE_H

#include "arch/arch.h"
#include "unwind_memory.h"

#include ARCH(registers.h)

/* By number. Written by user space, read by walks; full: the process's Java frames are not known,
 * which is said. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_HOTSPOT_PROCESSES);
    __type(key, u32);
    __type(value, struct wire_hotspot);
} hotspot_processes SEC(".maps");

enum {
    /* From a segment to the beginning of its block, each at most 253 segments: 2 MB of code. */
    HOPS_TO_BLOCK = 64,
};

// Members of the block that was found.
static __always_inline u64 block_word(const struct stack_walk* walk, u32 offset) {
    return walk->hotspot.words[(offset & (HOTSPOT_BYTES - 1)) / sizeof(u64)];
}

static __always_inline u32 block_half(const struct stack_walk* walk, u32 offset) {
    const u32* halves = (const void*)walk->hotspot.words;

    return halves[(offset & (HOTSPOT_BYTES - 1)) / sizeof(u32)];
}

static __always_inline u16 block_quarter(const struct stack_walk* walk, u32 offset) {
    const u16* quarters = (const void*)walk->hotspot.words;

    return quarters[(offset & (HOTSPOT_BYTES - 1)) / sizeof(u16)];
}

static __always_inline s64 block_number(const struct stack_walk* walk,
                                        const struct wire_hotspot_number* number) {
    u32 above = (64 - number->bits) & 63;
    u64 word = block_word(walk, number->at) >> number->at % sizeof(word) * 8;

    return (s64)(word << above) >> above;
}

static __always_inline u64 block_address(const struct stack_walk* walk,
                                         const struct wire_hotspot_number* number) {
    return block_number(walk, number) + (number->bits < 64 ? walk->hotspot.blob : 0);
}

static __always_inline u8 block_byte(const struct stack_walk* walk, u32 offset) {
    const u8* bytes = (const void*)walk->hotspot.words;

    return bytes[offset & (HOTSPOT_BYTES - 1)];
}

static __always_inline bool is_interpreter(const struct stack_walk* walk,
                                           const struct wire_hotspot* layout) {
    return walk->code - layout->interpreter < layout->interpreter_size;
}

static __always_inline bool is_nmethod(const struct stack_walk* walk,
                                       const struct wire_hotspot* layout) {
    return block_number(walk, &layout->block_header_size) == layout->nmethod_header_size;
}

// Follows a heap's map from walk->hotspot.segment to where its block begins. The segment stands in
// memory: what the verifier learns of it by each step would make every turn of the loop a new one.
static __always_inline bool find_first_segment(struct stack_walk* walk, u64 segments) {
    for (u32 i = 0; i < HOPS_TO_BLOCK; i++) {
        u8 back = WIRE_HOTSPOT_FREE;

        if (bpf_probe_read_user(&back, sizeof(back), (void*)(segments + walk->hotspot.segment)) ||
            back == WIRE_HOTSPOT_FREE)
            return false;
        if (!back)
            return true;
        walk->hotspot.segment -= back;
    }
    return false;
}

// Reads the block that walk->code lies in. 0: there is none.
__noinline int find_hotspot_block(struct stack_walk* walk, const struct wire_hotspot* layout) {
    u64 low = 0, segments = 0, block, blob;
    u32 bits = 0;

    if (!walk || !layout)
        return 0;
    for (u32 i = 0; i < WIRE_HOTSPOT_HEAPS; i++) {
        const struct wire_hotspot_heap* heap = &layout->heaps[i];

        if (walk->code - heap->low < heap->size) {
            low = heap->low;
            segments = heap->segments;
            bits = heap->segment_bits;
        }
    }
    if (!low || bits > WIRE_HOTSPOT_SEGMENT_BITS)
        return 0;
    walk->hotspot.segment = (walk->code - low) >> bits;
    if (!find_first_segment(walk, segments))
        return 0;
    block = low + (walk->hotspot.segment << bits);
    if (bpf_probe_read_user(walk->hotspot.words, WIRE_HOTSPOT_BLOCK_BYTES, (void*)block) ||
        !block_byte(walk, layout->block_used))
        return 0;
    blob = block + layout->block_blob;
    walk->hotspot.blob = blob;
    return walk->code - blob < block_half(walk, layout->block_size) && !(blob >> USER_ADDRESS_BITS);
}

// Sets the words of the frame at hand, whose next instruction is at `ip`.
static __always_inline void note_hotspot_code(struct stack_walk* walk,
                                              const struct wire_hotspot* layout, u64 ip) {
    u64 method = 0, offset = ip - walk->hotspot.blob;
    u32 compile_id = 0;

    if (is_nmethod(walk, layout)) {
        method = block_word(walk, layout->block_method);
        compile_id = block_half(walk, layout->block_compile_id);
    }
    if (offset > WIRE_HOTSPOT_MAX_OFFSET)
        offset = WIRE_HOTSPOT_MAX_OFFSET;
    walk->noted.first = WIRE_FRAME_HOTSPOT_CODE | walk->hotspot.blob;
    walk->noted.second = (walk->exact ? WIRE_HOTSPOT_EXACT : 0) | offset << 32 |
                         wire_hotspot_code_cookie(block_word(walk, layout->block_name), method,
                                                  block_half(walk, layout->block_size), compile_id);
}

// ... of the interpreter's frame that executes this method, and is at this bytecode of it. False:
// the method has none there, so it is no such frame. Native methods have none at all.
static __always_inline bool note_hotspot_bytecode(struct stack_walk* walk,
                                                  const struct wire_hotspot* layout, u64 method,
                                                  u64 bytecode, bool may_be_native) {
    u64 const_method, index, size;

    if (method >> USER_ADDRESS_BITS ||
        !read_user_word(method + layout->method_const, &const_method) ||
        bpf_probe_read_user(walk->hotspot.words, WIRE_HOTSPOT_CONST_BYTES, (void*)const_method))
        return false;
    size = block_quarter(walk, layout->const_code_size);
    index = bytecode - const_method - layout->const_bytecode;
    if (!size && may_be_native)
        index = 0;
    else if (index >= size)
        return false;
    walk->noted.first = WIRE_FRAME_HOTSPOT_BYTECODE | method;
    walk->noted.second =
        (index & 0xffff) << 32 |
        wire_hotspot_method_cookie(const_method, block_word(walk, layout->const_constants),
                                   block_quarter(walk, layout->const_name), (u32)size);
    return true;
}

#endif
