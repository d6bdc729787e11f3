/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Perl: where its structures have what a walk reads of them, and how its frames are told. */
#ifndef AUGER_WIRE_PERL_H
#define AUGER_WIRE_PERL_H

#include "types.h"

enum wire_perl_limit {
    WIRE_PERL_LAYOUTS = 64, /* builds and versions that are observed at once */
    WIRE_PERL_KEYS = 1024,  /* PTHREAD_KEYS_MAX of glibc */
    WIRE_PERL_MOST_LINE = 0x0fffffff,
    WIRE_PERL_MOST_CONTEXTS = 1 << 20, /* of one stack of contexts */
    WIRE_PERL_MOST_STACK_TYPE = 32,
    WIRE_PERL_FILE = 256,         /* bytes of a file's name, with its zero: longer ones are cut */
    WIRE_PERL_NONE = 1,           /* in place of an address */
    WIRE_PERL_INTERPRETER = 8192, /* bytes; the compiler's statement is one of its members */
    WIRE_PERL_WAY_NEXT = 1 << 27,
};

/* Offsets in bytes that are the same in all versions known: 5.28 to 5.42, with ithreads. */
enum wire_perl_offset {
    /* struct interpreter */
    WIRE_PERL_INTERPRETER_OP = 8, /* the op that is executed */
    /* struct stackinfo: a stack of contexts */
    WIRE_PERL_STACK_CONTEXTS = 8,
    WIRE_PERL_STACK_PREVIOUS = 16, /* the one that was in use before; 0: there is none */
    WIRE_PERL_STACK_INDEX = 32,    /* half a word: of the innermost context; -1: there is none */
    /* struct context */
    WIRE_PERL_CONTEXT_TYPE = 0,  /* a byte: wire_perl_context and flags */
    WIRE_PERL_CONTEXT_COP = 16,  /* address of the cop of whoever entered it */
    WIRE_PERL_CONTEXT_NEXT = 48, /* the op behind it: 0 where it was entered from C */
    /* struct op and struct cop: a statement */
    WIRE_PERL_OP_NEXT = 0,
    WIRE_PERL_OP_CODE = 16,  /* address of the C function that executes it */
    WIRE_PERL_COP_LINE = 36, /* half a word */
    WIRE_PERL_COP_FILE = 48, /* address of a text that ends with a zero */
    /* struct sv: the head of a value. Its body is where its first word leads to. */
    WIRE_PERL_VALUE_FLAGS = 12, /* half a word; its lowest byte is a wire_perl_type */
    WIRE_PERL_VALUE_MORE = 16,  /* a word that depends on the type */
    /* struct xpvcv: the body of a sub */
    WIRE_PERL_SUB_STASH = 32, /* the package in which it was compiled */
    WIRE_PERL_SUB_START = 40, /* its first op */
    WIRE_PERL_SUB_NAME = 56,  /* its glob, or its name: WIRE_PERL_NAMED */
    WIRE_PERL_SUB_FILE = 64,  /* likewise a text */
    WIRE_PERL_SUB_FLAGS = 92, /* half a word */
    /* struct xpvgv: the body of a glob; WIRE_PERL_VALUE_MORE leads to struct gp */
    WIRE_PERL_GLOB_NAME = 32,
    WIRE_PERL_GLOB_STASH = 40,
    WIRE_PERL_GP_GLOB = 56, /* in struct gp: the glob that it was made for */
    /* struct xpvhv: the body of a package; WIRE_PERL_VALUE_MORE leads to its array */
    WIRE_PERL_STASH_MOST = 24, /* index of the last element of the array */
    WIRE_PERL_STASH_BODY = 32, /* size of it: behind it struct xpvhv_aux, since 5.36 */
    /* struct xpvhv_aux */
    WIRE_PERL_AUX_NAME = 0,   /* the package's name, or the address of it */
    WIRE_PERL_AUX_NAMES = 28, /* half a word: 0: the former */
    /* struct hek: a name */
    WIRE_PERL_NAME_HASH = 0, /* half a word */
    WIRE_PERL_NAME_LENGTH = 4,
    WIRE_PERL_NAME_CHARACTERS = 8, /* behind them a zero and a byte of flags */
};

/* What is read at once from the beginning of each. */
enum wire_perl_size {
    WIRE_PERL_STACK_BYTES = 48,
    WIRE_PERL_CONTEXT_BYTES = 80,
    WIRE_PERL_VALUE_BYTES = 24,
    WIRE_PERL_AUX_BYTES = 32,
};

enum wire_perl_type {
    WIRE_PERL_GLOB = 9,
    WIRE_PERL_PACKAGE = 12,
    WIRE_PERL_SUB = 13,
    WIRE_PERL_FORMAT = 14,
};

enum wire_perl_flag {
    WIRE_PERL_HAS_AUX = 0x02000000, /* of a package's value: it has a struct xpvhv_aux */
    WIRE_PERL_NAMED = 0x8000,       /* of a sub: it has a name in place of a glob */
    WIRE_PERL_LEXICAL = 0x10000,    /* of a sub: `my sub`, which is in no package */
    WIRE_PERL_UTF8 = 1,             /* of a name: its characters are UTF-8; else Latin-1 */
};

/* The low half of a context's type, which is another one in 5.41.5 alone, and flags. */
enum wire_perl_context {
    WIRE_PERL_CONTEXT_KIND = 0x0f,
    WIRE_PERL_IN_BLOCK = 0, /* a block of sort's */
    WIRE_PERL_IN_SUB = 9,
    WIRE_PERL_IN_FORMAT = 10,
    WIRE_PERL_IN_EVAL = 11,     /* of all kinds, and `require` */
    WIRE_PERL_EVAL_TEXT = 0x20, /* of an eval: it is one of a text */
    WIRE_PERL_EVAL_BLOCK = 0x40,
    WIRE_PERL_EVAL_TRY = 0x80, /* `try`, which caller() does not count */
    WIRE_PERL_SUB_RE = 0x40,   /* of a sub: the code of a regular expression */
    WIRE_PERL_SUB_FAKE = 0x80, /* ... that is no sub, but a block of the one around it */
};

/* Why there is another stack of contexts. */
enum wire_perl_stack {
    WIRE_PERL_STACK_MAIN = 1,
    WIRE_PERL_STACK_SORT = 3,       /* sort calls what compares */
    WIRE_PERL_STACK_MULTICALL = 10, /* C code calls a sub many times, in a way of its own */
};

/* Offsets in bytes, as one version of Perl has them. */
struct wire_perl_layout {
    __wire_u32 interpreter_cop;   /* address of the statement that is executed */
    __wire_u32 interpreter_stack; /* address of the stack of contexts in use */
    __wire_u32 context_bytes;
    __wire_u32 context_sub; /* in a context: address of the sub; 0: it has just been left */
    __wire_u32 stack_type;  /* half a word: wire_perl_stack, among others */
    __wire_u32 stack_sub;   /* half a word: index of the innermost sub or eval; 0: there is none */
    __wire_u32 aux_in_body; /* 1: struct xpvhv_aux is part of a package's body; 0: of its array */
    __wire_u32 version;     /* 0x0524: 5.36 */
};

/*
 * A frame of Perl is two pairs of words of a stack. The first pair is of what is executed:
 * WIRE_FRAME_PERL | the address of its name (struct hek), or WIRE_PERL_NONE; and the address of its
 * package's name, or 0, with a wire_perl_frame from WIRE_PERL_FRAME_SHIFT on. What a sub is called
 * lives longer than the sub does.
 *
 * The second is of where it is: WIRE_FRAME_PERL_COP | the address of the statement, and the way
 * from there to the op (upper half, see wire_perl_way()), since several statements may share one.
 * Of a statement that changes, as that of the compiler does, and of none: WIRE_FRAME_PERL_PLACE |
 * the address of the file's name, or WIRE_PERL_NONE; and the line (upper half; 0: it is not known).
 * The lower half is what all of this was known by when the stack was taken.
 *
 * A pair of WIRE_FRAME_PERL and a wire_perl_boundary ends what one run of Perl's loop, or C code
 * that prepares one, has to do. Which native frames these are is found out in user space.
 */
enum wire_perl_frame {
    WIRE_PERL_FRAME_SUB = 0,
    WIRE_PERL_FRAME_EVAL = 1,
    WIRE_PERL_FRAME_REQUIRE = 2, /* code of a file that `require`, `use` or `do` executes */
    WIRE_PERL_FRAME_MAIN = 3,    /* what no sub and no eval is around */
    WIRE_PERL_FRAME_UNREAD = 4,
    WIRE_PERL_FRAME_SHIFT = 56,
};

enum wire_perl_boundary {
    WIRE_PERL_CALLED = 0, /* a sub or eval that was entered from C */
    WIRE_PERL_BLOCK = 1,  /* all that a stack of contexts of sort's, or the like, has: also there
                             while  nothing of it is executed */
};

/* Of a text, eight bytes at a time; what is behind its zero is 0. */
static inline __wire_u64 wire_perl_mark(__wire_u64 mark, __wire_u64 word) {
    mark = (mark ^ word) * 0x9e3779b97f4a7c15ull;
    return mark ^ mark >> 29;
}

static inline __wire_u32 wire_perl_line(__wire_u32 line) {
    return line > WIRE_PERL_MOST_LINE ? 0 : line;
}

/* `name`, `package`: wire_perl_mark() of each one's hash and length, a word, and of what its
 * characters are known by, or 0. `file`: what its text is known by, or 0. */
static inline __wire_u32 wire_perl_cookie(__wire_u64 name, __wire_u64 package, __wire_u64 file,
                                          __wire_u32 line) {
    __wire_u64 mixed = wire_perl_mark(wire_perl_mark(1, name), package);

    mixed = wire_perl_mark(wire_perl_mark(mixed, file), line);
    return (__wire_u32)(mixed >> 32) ^ (__wire_u32)mixed;
}

/* From a statement to an op of it, in words; 0: it is not known, or too far. With
 * WIRE_PERL_WAY_NEXT the op is the one behind that of which the frame is. */
static inline __wire_u32 wire_perl_way(__wire_u64 cop, __wire_u64 op, __wire_u32 is_next) {
    __wire_u64 distance = op - cop, most = (__wire_u64)WIRE_PERL_WAY_NEXT / 2 * 8;

    if (!op || distance % 8 || distance + most >= 2 * most)
        return 0;
    return (__wire_u32)(distance / 8) % WIRE_PERL_WAY_NEXT | (is_next ? WIRE_PERL_WAY_NEXT : 0);
}

static inline __wire_u64 wire_perl_op(__wire_u64 cop, __wire_u32 way) {
    __wire_u64 distance = way % WIRE_PERL_WAY_NEXT;

    if (!distance)
        return 0;
    if (distance >= WIRE_PERL_WAY_NEXT / 2)
        distance -= WIRE_PERL_WAY_NEXT;
    return cop + distance * 8;
}

WIRE_ASSERT(sizeof(struct wire_perl_layout) == 32, "wire_perl_layout");

#endif
