// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Which function a frame of V8's is of: interpreted ones are in its own code, in the file, others
// in code that it has generated; all have a frame pointer. Of the walk alone. All that is read may
// be anything: it is the process's.
#ifndef AUGER_V8_FRAMES_H
#define AUGER_V8_FRAMES_H

#include "arch/arch.h"
#include "unwind_memory.h"

#include ARCH(walk_registers.h)

/* By number. Written by user space, read by walks; full: that file's JavaScript functions are not
 * known, which is said. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_V8_LAYOUTS);
    __type(key, u32);
    __type(value, struct wire_v8);
} v8_layouts SEC(".maps");

static __always_inline bool is_v8_code(const struct stack_walk* walk) {
    return walk->mapping.kind == WIRE_MAPPING_V8 || walk->mapping.kind == WIRE_MAPPING_V8_FILE;
}

// Of the SharedFunctionInfo that was read.
static __always_inline u64 shared_word(const struct stack_walk* walk, u32 offset) {
    return walk->v8.words[(offset & (V8_BYTES - 1)) / sizeof(u64)];
}

static __always_inline u32 shared_half(const struct stack_walk* walk, u32 offset) {
    const u32* halves = (const void*)walk->v8.words;

    return halves[(offset & (V8_BYTES - 1)) / sizeof(u32)];
}

static __always_inline bool is_pointer(u64 word) {
    return (word & WIRE_V8_TAG_MASK) == WIRE_V8_TAG && !(word >> USER_ADDRESS_BITS);
}

// Whether the objects of this Map are of a type.
static __always_inline bool is_map_of(const struct wire_v8* layout, u64 map, u32 type) {
    u16 found = 0;

    return is_pointer(map) &&
           !bpf_probe_read_user(&found, sizeof(found),
                                (void*)(map - WIRE_V8_TAG + layout->map_type)) &&
           found == type;
}

enum { LOG2_V8_PLACES = 17 };

// The place (wire/v8.h) in which the code further in, that the frame at hand has called, has the
// offset, if it is a bytecode's handler.
__noinline int find_offset_place(struct stack_walk* walk) {
    u32 place = WIRE_V8_IN_FRAME, table_number, cell, first;
    struct block_cursor cursor = {};
    struct wire_unwind_table* table;
    u64 inner;

    if (!walk)
        return WIRE_V8_IN_FRAME;
    inner = walk->v8.inner;
    table_number = walk->mapping.table;
    table = bpf_map_lookup_elem(&unwind_tables, &table_number);
    if (!table || inner < walk->mapping.start || inner >= walk->mapping.end ||
        load_acquire(&table->state) != WIRE_UNWIND_READY || !table->handlers_cell)
        return WIRE_V8_IN_FRAME;
    cell = table->handlers_cell;
    first = word_at(&cursor, cell, WIRE_V8_HANDLERS_FIRST, ~0U);
    inner -= walk->mapping.bias;
    if (inner < first || (inner - first) >> WIRE_V8_HANDLER_BITS)
        return WIRE_V8_IN_FRAME;
    inner -= first;
    begin_search(walk, 0, word_at(&cursor, cell, WIRE_V8_HANDLERS_COUNT, 0));
    for (u32 i = 0; i < LOG2_V8_PLACES && walk->low < walk->high; i++) {
        u32 middle = (walk->low + walk->high) / 2;
        u32 at = word_at(&cursor, cell, WIRE_V8_HANDLERS_PLACES + middle, ~0U);
        bool is_behind = at >> WIRE_V8_PLACE_BITS <= inner;

        narrow_search(walk, middle, is_behind);
        if (is_behind)
            place = at & ((1U << WIRE_V8_PLACE_BITS) - 1);
    }
    return place;
}

// The offset that a bytecode's handler has elsewhere than in the function's frame.
static __always_inline bool read_handlers_offset(struct stack_walk* walk, u64* offset) {
    u32 place;

    if (!walk->v8.inner)
        return false;
    place = find_offset_place(walk);
    if (place == WIRE_V8_IN_FRAME)
        return false;
    if (place >= WIRE_V8_IN_WORD) {
        // The handler has been left by its frame pointer.
        u64 bp = walk->slot - sizeof(u64);

        return read_user_word(bp - (place - WIRE_V8_IN_WORD + 1) * sizeof(u64), offset) &&
               *offset <= WIRE_V8_MOST_OFFSET;
    }
    return walk->count == 2 && read_interrupted_register(place - WIRE_V8_IN_REGISTER, offset) &&
           *offset <= WIRE_V8_MOST_OFFSET;
}

// Where the interpreted function at the frame pointer is, as wire_v8 says. WIRE_V8_COMPILED: none
// is interpreted there, or its frame is not whole yet.
static __always_inline u64 read_v8_offset(struct stack_walk* walk, const struct wire_v8* layout) {
    u64 offset, bytecode, map, present;

    // From lower to higher addresses, as windows move.
    if (walk->bp < walk->sp + layout->frame_offset ||
        !read_stack_word(walk, walk->bp - layout->frame_offset, &offset) ||
        !read_stack_word(walk, walk->bp - layout->frame_bytecode, &bytecode))
        return WIRE_V8_COMPILED;
    // A number: in the upper half.
    if ((u32)offset || offset >> 32 > WIRE_V8_MOST_OFFSET || !is_pointer(bytecode) ||
        !read_user_word(bytecode - WIRE_V8_TAG, &map) ||
        !is_map_of(layout, map, layout->bytecode_type))
        return WIRE_V8_COMPILED;
    return read_handlers_offset(walk, &present) ? present : offset >> 32;
}

// Of a compiled function: what executes it, if that is the code that it has now.
static __always_inline void note_v8_code(struct stack_walk* walk, const struct wire_v8* layout,
                                         u64 function) {
    u64 code, start, offset;
    u32 size = 0;

    if (!layout->function_code ||
        !read_user_word(function - WIRE_V8_TAG + layout->function_code, &code) || !is_pointer(code))
        return;
    start = code - WIRE_V8_TAG + layout->code_instructions;
    if ((layout->code_start && !read_user_word(code - WIRE_V8_TAG + layout->code_start, &start)) ||
        bpf_probe_read_user(&size, sizeof(size), (void*)(code - WIRE_V8_TAG + layout->code_size)))
        return;
    offset = walk->code - start;
    if (offset >= size || offset > WIRE_V8_MOST_OFFSET)
        return;
    walk->v8.frame = V8_FRAME_OWN;
    // The baseline compiler's code is what executes all closures of the function: nothing is
    // inlined.
    if (code == shared_word(walk, layout->shared_data))
        return;
    walk->noted.code = WIRE_FRAME_V8_CODE | code;
    walk->noted.code_second = offset << 32 | wire_v8_code_cookie(start, size);
}

// Sets the words of the frame at hand, if what its frame pointer leads to is a function's. Whether
// the frame pointer is this frame's own the step to its caller has to show.
__noinline int note_v8_frame(struct stack_walk* walk) {
    u64 offset = WIRE_V8_COMPILED, function, context, shared;
    struct wire_v8* layout;
    u32 number, size;

    if (!walk)
        return 0;
    number = walk->process.v8 - 1; /* of none, it is out of bounds */
    layout = bpf_map_lookup_elem(&v8_layouts, &number);
    if (!layout || walk->bp & 7 || walk->bp < walk->sp + layout->frame_function)
        return 0;
    if (walk->mapping.kind == WIRE_MAPPING_V8_FILE) {
        offset = read_v8_offset(walk, layout);
        if (offset == WIRE_V8_COMPILED)
            return 0;
    }
    if (!read_stack_word(walk, walk->bp - layout->frame_function, &function) ||
        !read_stack_word(walk, walk->bp - layout->frame_context, &context) ||
        !is_pointer(context) || !is_pointer(function) ||
        !read_user_word(function - WIRE_V8_TAG + layout->function_shared, &shared) ||
        !is_pointer(shared))
        return 0;
    size = layout->shared_bytes;
    if (size > WIRE_V8_SHARED_BYTES ||
        bpf_probe_read_user(walk->v8.words, size, (void*)(shared - WIRE_V8_TAG)) ||
        !is_map_of(layout, shared_word(walk, 0), layout->shared_type))
        return 0;
    // What V8 has of JavaScript's own functions has names as functions of the file.
    if (!is_pointer(shared_word(walk, layout->shared_data)))
        return 0;
    if (offset == WIRE_V8_COMPILED) {
        walk->v8.frame = V8_FRAME_COMPILED;
        note_v8_code(walk, layout, function);
    }
    walk->noted.first = WIRE_FRAME_V8 | shared;
    walk->noted.second = offset << 32 | wire_v8_cookie(shared_word(walk, layout->shared_name),
                                                       shared_word(walk, layout->shared_script),
                                                       shared_half(walk, layout->shared_literal),
                                                       shared_half(walk, layout->shared_unique));
    return 0;
}

#endif
