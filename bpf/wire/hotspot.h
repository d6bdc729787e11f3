/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* HotSpot: where its structures have what a walk reads of them, and how its frames are told. */
#ifndef AUGER_WIRE_HOTSPOT_H
#define AUGER_WIRE_HOTSPOT_H

#include "thread_places.h"
#include "types.h"

/* Which virtual thread a thread of Java's carries, since JDK 25: where threads have their Thread
 * (Thread::_thr_current), and offsets in bytes in a JavaThread. Both are 64 bits. */
struct wire_virtual_threads {
    struct wire_thread_place thread; /* way 0: that is not known */
    __wire_u32 owner;                /* the number of what it works for */
    __wire_u32 continuation;         /* 0 in memory: it carries none, and works for itself */
};

enum wire_hotspot_limit {
    WIRE_HOTSPOT_HEAPS = 4,        /* of code; HotSpot has one, or three */
    WIRE_HOTSPOT_PROCESSES = 1024, /* whose frames are known at once */
    /* Of a block of code, from its beginning: what is read of it at once. A compiled method's is
     * larger; a smaller stub may be the last thing before memory that is not there. */
    WIRE_HOTSPOT_BLOCK_BYTES = 352,
    WIRE_HOTSPOT_CONST_BYTES = 48, /* of a ConstMethod, likewise */
    WIRE_HOTSPOT_SEGMENT_BITS = 16,
    WIRE_HOTSPOT_FREE = 255, /* in a heap's map: nothing is there */
};

/*
 * A heap of code, CodeHeap: [low, low + size) is reserved for it, and never moves. It consists of
 * segments; `segments` is the address of a byte for each of them: how many segments further down
 * its block begins, or a step on the way there.
 */
struct wire_hotspot_heap {
    __wire_u64 low;
    __wire_u64 size; /* 0: there is no such heap */
    __wire_u64 segments;
    __wire_u32 segment_bits;
    __wire_u32 padding;
};

/* A number with a sign that versions have in different lengths: 16, 32 or 64 bits, all in one word
 * of a block. */
struct wire_hotspot_number {
    __wire_u16 at;
    __wire_u16 bits;
};

/* Of one process. Offsets in bytes; those named block_ are from the beginning of a heap's block, in
 * which a CodeBlob stands behind a header. Addresses that are numbers of less than 64 bits are
 * distances from the CodeBlob. */
struct wire_hotspot {
    struct wire_hotspot_heap heaps[WIRE_HOTSPOT_HEAPS];
    __wire_u64 interpreter; /* its code: [interpreter, interpreter + interpreter_size) */
    __wire_u64 interpreter_size;
    __wire_u32 block_blob;       /* where the CodeBlob begins */
    __wire_u32 block_used;       /* a byte, 0: it is free */
    __wire_u32 block_name;       /* address of the kind's name */
    __wire_u32 block_size;       /* int, of the CodeBlob in bytes */
    __wire_u32 block_frame_size; /* int, words with the return address */
    /* What tells an nmethod; the address of the first instruction; and from which distance on the
     * frame is there. */
    struct wire_hotspot_number block_header_size;
    struct wire_hotspot_number block_code;
    struct wire_hotspot_number block_frame_complete;
    /* Of an nmethod, a method's compiled code: */
    __wire_u32 nmethod_header_size; /* what block_header_size says of one */
    __wire_u32 block_method;        /* address of the Method */
    __wire_u32 block_compile_id;    /* int */
    /* Addresses to which callees return when it is given up; the latter from method handles. */
    struct wire_hotspot_number block_deopt_handler;
    struct wire_hotspot_number block_deopt_mh_handler;
    __wire_u32 block_original_pc; /* int: where from the stack pointer they returned to else */
    __wire_u32 block_pcs;         /* int; there are none when this is block_pcs_end's, */
    __wire_u32 block_pcs_end;     /* of code that calls a native function */
    /* Of interpreted methods: */
    __wire_u32 method_const;    /* address of the ConstMethod */
    __wire_u32 const_constants; /* address */
    __wire_u32 const_code_size; /* 16 bits */
    __wire_u32 const_name;      /* 16 bits */
    __wire_u32 const_bytecode;  /* where it begins */
    __wire_u32 padding;
};

/*
 * A frame is two words of a stack. Of compiled code, or a stub: WIRE_FRAME_HOTSPOT_CODE | address
 * of the CodeBlob; and WIRE_HOTSPOT_EXACT, or not, the distance from there to the next instruction
 * (bits 32 to 58), and what the code was known by when the stack was taken (lower half).
 * Of the interpreter: WIRE_FRAME_HOTSPOT_BYTECODE | address of the Method, 0: it is not known; and
 * the index of the bytecode (bits 32 to 47), and what the method was known by.
 * Code and methods die, and their memory becomes others'.
 */
#define WIRE_HOTSPOT_EXACT 0x0800000000000000ull /* it has not called: as WIRE_FRAME_EXACT */
#define WIRE_HOTSPOT_MAX_OFFSET 0x07ffffffu

static inline __wire_u32 wire_hotspot_code_cookie(__wire_u64 name, __wire_u64 method,
                                                  __wire_u32 size, __wire_u32 compile_id) {
    return compile_id * 0x9e3779b1u ^ (__wire_u32)(method >> 3) * 0x85ebca6bu ^ size * 0xc2b2ae35u ^
           (__wire_u32)name;
}

static inline __wire_u32 wire_hotspot_method_cookie(__wire_u64 const_method, __wire_u64 constants,
                                                    __wire_u32 name, __wire_u32 code_size) {
    return (__wire_u32)(const_method >> 3) * 0x9e3779b1u ^
           (__wire_u32)(constants >> 3) * 0x85ebca6bu ^ (name << 16 | code_size);
}

WIRE_ASSERT(sizeof(struct wire_hotspot_heap) == 32, "wire_hotspot_heap");
WIRE_ASSERT(sizeof(struct wire_hotspot_number) == 4, "wire_hotspot_number");
WIRE_ASSERT(sizeof(struct wire_hotspot) == 232, "wire_hotspot");
WIRE_ASSERT(sizeof(struct wire_virtual_threads) == 24, "wire_virtual_threads");

#endif
