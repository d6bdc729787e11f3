/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* CPython: where its structures have what a walk reads of them, and how its frames are told. */
#ifndef AUGER_WIRE_PYTHON_H
#define AUGER_WIRE_PYTHON_H

#include "loop_code.h"
#include "types.h"

/* How the frames of one run of the interpreter's loop, of which a native frame holds many, end. */
enum wire_python_boundary {
    WIRE_PYTHON_SHIM = 0,   /* by a frame that is no function's, in the native frame of the loop:
                               its owner is WIRE_PYTHON_SHIM_OWNER or more; since 3.12 */
    WIRE_PYTHON_CFRAME = 1, /* by a frame whose owner byte (is_entry) is not 0; the native frame of
                               the loop holds the thread's cframe; 3.11 */
    WIRE_PYTHON_EACH = 2,   /* each by itself: one run of the loop executes one; up to 3.10. No
                               boundaries stand in the chain. */
};

enum { WIRE_PYTHON_3_12 = 0x030c };

enum wire_python_limit {
    WIRE_PYTHON_GENERATOR_OWNER = 1, /* FRAME_OWNED_BY_GENERATOR: of coroutines, too */
    WIRE_PYTHON_SHIM_OWNER = 3,      /* FRAME_OWNED_BY_CSTACK, or FRAME_OWNED_BY_INTERPRETER */
    WIRE_PYTHON_COROUTINE = 0x80,    /* CO_COROUTINE: of a function that is `async def` */
    WIRE_PYTHON_LAYOUTS = 64,        /* versions that are observed at once */
    WIRE_PYTHON_MOST_OFFSET = 0x0fffffef,
    WIRE_PYTHON_NO_OFFSET = 0x0fffffff, /* of an instruction that lies elsewhere */
    WIRE_PYTHON_THREADS = 512, /* of a process, that one walk looks through for its own */
};

/* Offsets in bytes, as one version of CPython was compiled. */
struct wire_python_layout {
    struct wire_loop_code loop;      /* _PyEval_EvalFrameDefault(), from _PyRuntime on: of
                                        WIRE_PYTHON_EACH */
    __wire_u32 runtime_interpreters; /* in _PyRuntime: the address of the first interpreter */
    __wire_u32 interpreter_next;
    __wire_u32 interpreter_threads; /* the address of its first thread state */
    __wire_u32 thread_next;
    __wire_u32 thread_id;    /* the word pthread_self() returns: glibc's thread pointer */
    __wire_u32 thread_frame; /* address of the innermost frame; or of the cframe, see has_cframe */
    __wire_u32 has_cframe;   /* 1: thread_frame leads to a cframe, which leads to the frame */
    __wire_u32 cframe_frame;
    __wire_u32 cframe_previous;
    __wire_u32 boundary;          /* wire_python_boundary */
    __wire_u32 frame_code;        /* address of the code object; since 3.14 with tags in low bits */
    __wire_u32 frame_previous;    /* the caller's frame; 0: there is none */
    __wire_u32 frame_instruction; /* address of the last instruction begun, in the code object; or
                                     how many there are before it: see instruction_unit */
    __wire_u32 instruction_unit; /* 0: an address; else an int, each of so many bytes of code, which
                                    is negative before the first instruction */
    __wire_u32 frame_owner;      /* a byte: see wire_python_boundary */
    __wire_u32 frame_kind; /* a byte: who owns it (enum _frameowner); since 3.12 the same one */
    __wire_u32 generator_frame;   /* in a generator or coroutine: its own frame */
    __wire_u32 frame_generator;   /* of a frame outside of its generator: the generator's address, 0
                                     where it is of none; in place of frame_kind. 0: frames are not
                                     outside */
    __wire_u32 frame_bytes;       /* that are read of a frame */
    __wire_u32 code_line;         /* co_firstlineno */
    __wire_u32 code_file;         /* address of co_filename */
    __wire_u32 code_name;         /* address of co_qualname; up to 3.10 of co_name */
    __wire_u32 code_lines;        /* address of co_linetable, or co_lnotab: a bytes object */
    __wire_u32 code_instructions; /* where the instructions begin in the code object */
    __wire_u32 code_flags;        /* co_flags */
    __wire_u32 code_version;      /* co_version, another one for each code object; 0: it has none */
    __wire_u32 version;           /* 0x030b: 3.11; 0: there is no layout */
    __wire_u32 padding;
};

/* All of these lie in so many bytes from the beginning of each: they are read at once. */
enum wire_python_size {
    WIRE_PYTHON_THREAD_BYTES = 256,
    WIRE_PYTHON_FRAME_BYTES = 80,         /* a frame may end with its stack's last page */
    WIRE_PYTHON_FRAME_OBJECT_BYTES = 112, /* of one that is an object: up to 3.10 */
    WIRE_PYTHON_CODE_BYTES = 160,
};

/*
 * A frame of Python is two words of a stack: WIRE_FRAME_PYTHON | the address of its code object,
 * and the offset of the instruction in it (bytes, upper half) with what the code object was known
 * by when the stack was taken (lower half): objects die, and their memory becomes others'.
 */
static inline __wire_u32 wire_python_cookie(__wire_u32 first_line, __wire_u64 file, __wire_u64 name,
                                            __wire_u64 lines, __wire_u32 version) {
    __wire_u32 cookie = first_line ^ (__wire_u32)(file >> 4) * 0x9e3779b1u ^
                        (__wire_u32)(name >> 4) * 0x85ebca6bu ^
                        (__wire_u32)(lines >> 4) * 0xc2b2ae35u ^ version * 0x27d4eb2fu;

    return cookie ? cookie : 1;
}

/*
 * With wire_config.with_tasks there are two more pairs of words behind the frames of the task that
 * the thread runs (bpf/python_task.h): as of a function what its outermost coroutine runs, then the
 * coroutine's address. What they have in place of an instruction's offset, with none of the bits of
 * a first word:
 */
/* In place of what it is known by: its page was not there when the stack was taken, and only who
 * may wait can read it. */
enum { WIRE_PYTHON_UNREAD = 0 };

enum wire_python_pair {
    WIRE_PYTHON_TASK_FUNCTION = 0x0ffffff0,
    WIRE_PYTHON_TASK_ADDRESS = 0x0ffffff1,
};

/* Of a pair's second word: whether it is one of those. */
static inline __wire_u32 wire_python_is_of_task(__wire_u64 second) {
    return second >> 32 == WIRE_PYTHON_TASK_FUNCTION || second >> 32 == WIRE_PYTHON_TASK_ADDRESS;
}

WIRE_ASSERT(sizeof(struct wire_python_layout) == 144, "wire_python_layout");

#endif
