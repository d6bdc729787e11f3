/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Ruby (CRuby): where its structures have what a walk reads of them, and how its frames are told.
 */
#ifndef AUGER_WIRE_RUBY_H
#define AUGER_WIRE_RUBY_H

#include "types.h"

enum wire_ruby_limit {
    WIRE_RUBY_LAYOUTS = 64,        /* builds and versions that are observed at once */
    WIRE_RUBY_MOST_HOPS = 16,      /* from a block's environment out to its method's */
    WIRE_RUBY_HOPS_OF_WALK = 2048, /* of all of a stack's frames: further ones have no method */
    WIRE_RUBY_MOST_OFFSET = 0x0fffffef,
    WIRE_RUBY_NO_OFFSET =
        0x0fffffff,        /* of an instruction that lies elsewhere, and of C functions */
    WIRE_RUBY_NO_CODE = 1, /* in place of an address */
};

/* Offsets in bytes that are the same in all versions known: 3.0 to 3.4. */
enum wire_ruby_offset {
    /* rb_execution_context_t: of a thread, or of the fiber that it runs */
    WIRE_RUBY_CONTEXT_STACK = 0,  /* where its control frames end, and so its stack of values */
    WIRE_RUBY_CONTEXT_SIZE = 8,   /* of that, in words */
    WIRE_RUBY_CONTEXT_FRAME = 16, /* address of the innermost control frame */
    /* rb_control_frame_t; the caller's lies behind it */
    WIRE_RUBY_FRAME_PC = 0,    /* address in the instructions: behind the one that calls */
    WIRE_RUBY_FRAME_ISEQ = 16, /* rb_iseq_t; 0: of a C function */
    WIRE_RUBY_FRAME_EP = 32,   /* its environment */
    /* An environment, in words: what `ep` points to is the third. */
    WIRE_RUBY_ENV_METHOD = 0, /* method entry, or other objects */
    WIRE_RUBY_ENV_OUTER = 1,  /* the environment around it, with two bits below, unless local */
    WIRE_RUBY_ENV_FLAGS = 2,  /* wire_ruby_flag */
    WIRE_RUBY_ENV_WORDS = 3,
    /* rb_iseq_t */
    WIRE_RUBY_ISEQ_BODY = 16,
    /* rb_iseq_constant_body: what code is; it does not move when objects do */
    WIRE_RUBY_BODY_KIND = 0,         /* half a word: wire_ruby_code */
    WIRE_RUBY_BODY_SIZE = 4,         /* half a word: of the instructions, in words */
    WIRE_RUBY_BODY_INSTRUCTIONS = 8, /* address of the first */
    WIRE_RUBY_BODY_PATH = 64,        /* String, or Array of path and real path */
    WIRE_RUBY_BODY_NAME = 72,        /* String: "total" */
    WIRE_RUBY_BODY_LABEL = 80,       /* String: "block in total" */
    WIRE_RUBY_BODY_LINE = 88,        /* what it begins at: a number, or an object that is one */
    /* Objects: flags come first. */
    WIRE_RUBY_OBJECT_FLAGS = 0,
    /* imemo_svar */
    WIRE_RUBY_SVAR_METHOD = 8,
    /* rb_method_entry_t */
    WIRE_RUBY_METHOD_DEFINITION = 16, /* rb_method_definition_t */
    WIRE_RUBY_METHOD_NAME = 24,       /* ID by which it was called */
    WIRE_RUBY_METHOD_OWNER = 32,      /* class or module */
};

/* All of these lie in so many bytes from the beginning of each: they are read at once. */
enum wire_ruby_size {
    WIRE_RUBY_FRAME_BYTES = 40,
    WIRE_RUBY_BODY_BYTES = 96,
    WIRE_RUBY_METHOD_BYTES = 40,
};

/* In the last word of an environment. */
enum wire_ruby_flag {
    WIRE_RUBY_LOCAL = 0x0002,  /* no other one is around it */
    WIRE_RUBY_FINISH = 0x0020, /* the native frame of rb_vm_exec() that runs the frame runs none
                                  further out */
    WIRE_RUBY_FRAME_MASK = 0x7fff0001, /* wire_ruby_frame */
};

enum wire_ruby_frame {
    WIRE_RUBY_METHOD_FRAME = 0x11110001,
    WIRE_RUBY_C_FRAME = 0x55550001,     /* of a method that is a C function */
    WIRE_RUBY_IFUNC_FRAME = 0x66660001, /* of a block that is one */
    WIRE_RUBY_DUMMY_FRAME = 0x79990001, /* before the first one */
};

/* Kinds of objects of Ruby's own (imemo): of the flags those of WIRE_RUBY_OBJECT_MASK. */
enum wire_ruby_object {
    WIRE_RUBY_OBJECT_MASK = 0xf01f,
    WIRE_RUBY_SVAR = 0x201a,
    WIRE_RUBY_METHOD_ENTRY = 0x601a,
};

/* WIRE_RUBY_BODY_KIND, of those that are asked for. */
enum wire_ruby_code {
    WIRE_RUBY_METHOD_CODE = 1,
};

/* Offsets in bytes, as one version of Ruby was compiled. */
struct wire_ruby_layout {
    __wire_u32 frame_bytes;     /* of a control frame */
    __wire_u32 context_machine; /* in an execution context: where its native stack begins (its
                                   highest address), and, two words further, how large it is */
    __wire_u32 version;         /* 0x0301: 3.1 */
    __wire_u32 padding;
};

/*
 * Ruby's frames follow as a whole behind the native ones of a stack, each run of rb_vm_exec() with
 * a boundary behind it: WIRE_FRAME_RUBY and 0. User space, which knows when a native stack is
 * whole, puts them in their places, from its outermost end on: in between a block is called from C
 * some native frames are about to run it, or have just done so.
 *
 * A frame is two words:
 *   WIRE_FRAME_RUBY_METHOD | the address of its method entry, of a method: its code is that of the
 *                            entry's definition, or it is a C function
 *   WIRE_FRAME_RUBY | the address of its code's body, of all other code
 * and the offset of the instruction in the code (words, upper half) with a cookie (lower half).
 * Before the latter stand two more where a method's code is around it, as it is around a block:
 *   WIRE_FRAME_RUBY_OWNER | the address of the method entry
 * and its cookie.
 *
 * Objects die, move (GC.compact), and their memory becomes others'. A cookie is made of all that
 * names are read by; so what has moved has no name rather than another one's.
 */
static inline __wire_u32 wire_ruby_mix(__wire_u64 one, __wire_u64 other, __wire_u64 third) {
    __wire_u64 mixed =
        one * 0x9e3779b97f4a7c15ull ^ other * 0xc2b2ae3d27d4eb4full ^ third * 0x165667b19e3779f9ull;

    return (__wire_u32)(mixed >> 32) ^ (__wire_u32)mixed;
}

/* Of a method entry. */
static inline __wire_u32 wire_ruby_method_cookie(__wire_u64 definition, __wire_u64 name,
                                                 __wire_u64 owner) {
    return wire_ruby_mix(definition, name, owner);
}

/* Of a body, WIRE_RUBY_BODY_BYTES of it. */
static inline __wire_u32 wire_ruby_code_cookie(const __wire_u64* body) {
    return wire_ruby_mix(body[WIRE_RUBY_BODY_KIND / 8], body[WIRE_RUBY_BODY_INSTRUCTIONS / 8],
                         body[WIRE_RUBY_BODY_LINE / 8]) ^
           wire_ruby_mix(body[WIRE_RUBY_BODY_LABEL / 8], body[WIRE_RUBY_BODY_PATH / 8],
                         body[WIRE_RUBY_BODY_NAME / 8]);
}

/* Of a frame of WIRE_FRAME_RUBY_METHOD that has code, by both. */
static inline __wire_u32 wire_ruby_frame_cookie(__wire_u32 of_method, __wire_u32 of_code) {
    return of_method * 0x9e3779b1u ^ of_code;
}

WIRE_ASSERT(sizeof(struct wire_ruby_layout) == 16, "wire_ruby_layout");

#endif
