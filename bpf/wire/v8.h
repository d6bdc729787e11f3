/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* V8: where its frames and objects have what a walk reads of them, and how its frames are told. */
#ifndef AUGER_WIRE_V8_H
#define AUGER_WIRE_V8_H

#include "types.h"

enum wire_v8_limit {
    WIRE_V8_LAYOUTS = 64, /* files with V8 that are observed at once */
    /* The lowest bits of a word: of a pointer to an object, and of nothing else. What the pointer
     * is off by. */
    WIRE_V8_TAG_MASK = 3,
    WIRE_V8_TAG = 1,
    WIRE_V8_SHARED_BYTES = 80, /* of a SharedFunctionInfo: read at once, or less */
    WIRE_V8_MOST_OFFSET = 0x03ffffff,
    WIRE_V8_COMPILED = 0x07ffffff, /* in place of an offset */
};

/*
 * Where the code that executes a bytecode (its handler) has the offset of that bytecode: a place.
 * In the frame of the function it is from the last call, until a handler that calls writes it
 * there.
 */
enum wire_v8_place {
    WIRE_V8_IN_FRAME = 0, /* wire_v8::frame_offset */
    /* 1 + n: in register n, as DWARF numbers it, as long as no function is called. */
    WIRE_V8_IN_REGISTER = 1,
    /* 16 + n: of a handler that has made a frame of its own, n words below its frame pointer. */
    WIRE_V8_IN_WORD = 17,
    WIRE_V8_PLACE_BITS = 6,
    WIRE_V8_HANDLER_BITS = 26,
};

/*
 * The places of a file's handlers, at wire_unwind_table::handlers_cell, in words of 32 bits: their
 * number, the first address that has one, as its table counts, and each as WIRE_V8_HANDLER_BITS of
 * how far it is behind the first, WIRE_V8_PLACE_BITS of place; ascending. One is valid up to the
 * next.
 */
enum wire_v8_handlers {
    WIRE_V8_HANDLERS_COUNT = 0,
    WIRE_V8_HANDLERS_FIRST = 1,
    WIRE_V8_HANDLERS_PLACES = 2,
};

/*
 * Of one file. Offsets in bytes, of objects from where they begin. Every object begins with the
 * address of its Map, which has the object's type. A function is a JSFunction (a closure, which
 * young garbage collections move), of which several share a SharedFunctionInfo (of the source's
 * function, which only rare ones move).
 */
struct wire_v8 {
    /* Below the frame pointer: */
    __wire_u32 frame_context;  /* a pointer; in frames that are no function's it is none */
    __wire_u32 frame_function; /* the JSFunction */
    __wire_u32 frame_bytecode; /* the BytecodeArray, while it is interpreted */
    __wire_u32 frame_offset;   /* upper half of a word: where in there */
    __wire_u32 map_type;       /* 16 bits */
    __wire_u32 function_shared;
    __wire_u32 shared_bytes; /* of a SharedFunctionInfo, at most WIRE_V8_SHARED_BYTES */
    __wire_u32 shared_data;  /* what executes it; no pointer: it is a part of V8 */
    __wire_u32 shared_name;
    __wire_u32 shared_script;
    __wire_u32 shared_literal; /* 32 bits: its number in the script */
    __wire_u32 shared_unique;  /* 32 bits: its number; of versions without one, shared_literal */
    __wire_u32 shared_type;    /* of a SharedFunctionInfo */
    __wire_u32 bytecode_type;  /* of a BytecodeArray */
    /* The Code that a function has now, which need not be what a frame executes; where its
     * instructions begin, or 0: in itself, at code_instructions; and how many bytes they are. */
    __wire_u32 function_code; /* 0: that is not known */
    __wire_u32 code_start;
    __wire_u32 code_instructions;
    __wire_u32 code_size;
};

/*
 * A frame is two words of a stack: WIRE_FRAME_V8 | the pointer to its SharedFunctionInfo, and
 * (upper half) the distance from the BytecodeArray's pointer to the bytecode that is executed, or
 * WIRE_V8_COMPILED, with (lower half) what the function was known by when the stack was taken:
 * objects move and die, and their memory becomes others'.
 * Of code that the optimizing compiler has made two words more stand before: WIRE_FRAME_V8_CODE |
 * the pointer to its Code, and (upper half) how far in it the frame's last instruction begun is,
 * with what the code was known by. It says which functions are inlined there.
 */
static inline __wire_u32 wire_v8_cookie(__wire_u64 name, __wire_u64 script, __wire_u32 literal,
                                        __wire_u32 unique) {
    return (__wire_u32)(name >> 3) * 0x9e3779b1u ^ (__wire_u32)(script >> 3) * 0x85ebca6bu ^
           literal * 0xc2b2ae35u ^ unique;
}

static inline __wire_u32 wire_v8_code_cookie(__wire_u64 start, __wire_u32 size) {
    return (__wire_u32)(start >> 3) * 0x9e3779b1u ^ size * 0x85ebca6bu;
}

WIRE_ASSERT(sizeof(struct wire_v8) == 72, "wire_v8");

#endif
