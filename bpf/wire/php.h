/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* PHP: where its structures have what a walk reads of them, and how its frames are told. */
#ifndef AUGER_WIRE_PHP_H
#define AUGER_WIRE_PHP_H

#include "loop_code.h"
#include "types.h"

enum wire_php_limit {
    WIRE_PHP_LAYOUTS = 64, /* builds and versions that are observed at once */
    WIRE_PHP_MOST_LINE = 0x0fffffff,
    WIRE_PHP_NO_FUNCTION = 1, /* in place of an address */
};

/* Offsets in bytes that are the same in all versions known: 7.4 to 8.4. */
enum wire_php_offset {
    /* zend_execute_data: a frame */
    WIRE_PHP_FRAME_INSTRUCTION = 0, /* address of the zend_op that was saved last */
    WIRE_PHP_FRAME_FUNCTION = 24,   /* address of the zend_function; 0: a placeholder */
    WIRE_PHP_FRAME_OBJECT = 32,     /* $this */
    WIRE_PHP_FRAME_FLAGS = 40,      /* half a word, This.u1.type_info: see wire_php_flag */
    WIRE_PHP_FRAME_PREVIOUS = 48,   /* address of the caller's; 0: there is none */
    /* zend_function: zend_op_array, or zend_internal_function */
    WIRE_PHP_FUNCTION_TYPE = 0,   /* a byte: wire_php_function */
    WIRE_PHP_FUNCTION_NAME = 8,   /* zend_string; 0: it is the code of a file */
    WIRE_PHP_FUNCTION_SCOPE = 16, /* zend_class_entry; 0: it is no method */
    /* zend_op: an instruction */
    WIRE_PHP_INSTRUCTION_LINE = 24,
    WIRE_PHP_INSTRUCTION_BYTES = 32,
    /* zend_string */
    WIRE_PHP_TEXT_HASH = 8, /* a word, 0: it was not needed yet */
    WIRE_PHP_TEXT_LENGTH = 16,
    WIRE_PHP_TEXT_CHARACTERS = 24,
    /* zend_class_entry */
    WIRE_PHP_CLASS_NAME = 8,
    /* executor_globals: address of the jmp_buf on the stack of the thread that runs PHP */
    WIRE_PHP_GLOBALS_BAILOUT = 416,
    /* zend_generator: where in it the placeholder (execute_fake) lies at most */
    WIRE_PHP_GENERATOR_BYTES = 320,
};

/* All of these lie in so many bytes from the beginning of each: they are read at once. */
enum wire_php_size {
    WIRE_PHP_FRAME_BYTES = 56,
    WIRE_PHP_FUNCTION_BYTES = 184,
    WIRE_PHP_INTERNAL_BYTES = 24, /* what is read of a function of PHP's own, which is smaller */
};

enum wire_php_flag {
    /* ZEND_CALL_TOP: the frame was entered from C, so that the native frame of execute_ex() that
     * runs it runs none further out. */
    WIRE_PHP_TOP = 1 << 17,
};

enum wire_php_function {
    WIRE_PHP_INTERNAL = 1, /* ZEND_INTERNAL_FUNCTION: PHP's own, in C */
    WIRE_PHP_USER = 2,     /* ZEND_USER_FUNCTION */
    WIRE_PHP_EVAL = 4,     /* ZEND_EVAL_CODE: the code of an eval(), which is of the same form */
};

static inline __wire_u32 wire_php_is_user(__wire_u8 type) {
    return type == WIRE_PHP_USER || type == WIRE_PHP_EVAL;
}

/* Offsets in bytes, and code of execute_ex(), as one build of PHP has them. */
struct wire_php_layout {
    struct wire_loop_code loop;       /* execute_ex(), from executor_globals on */
    __wire_u32 globals_frame;         /* in executor_globals: address of the innermost frame */
    __wire_u32 function_instructions; /* in a zend_op_array: address of the first instruction */
    __wire_u32 function_count;        /* half a word: how many there are */
    __wire_u32 function_file;         /* zend_string */
    __wire_u32 function_line;         /* half a word: the line that it begins at */
    __wire_u32 generator_frame;       /* in a zend_generator: address of its frame; 0: not known */
    __wire_u32 version;               /* 0x0802: 8.2 */
    __wire_u32 padding;
};

/*
 * A frame of PHP is two words of a stack: WIRE_FRAME_PHP | the address of its zend_function, or
 * WIRE_PHP_NO_FUNCTION when that could not be read; and WIRE_PHP_INCLUDED or not, the line (bits 32
 * to 59; 0: it is not known), and what the function was known by when the stack was taken (lower
 * half): functions die with their request, and their memory becomes others'. As each request begins
 * with empty memory, the next one's functions often lie just where others lay before; so addresses
 * alone say nothing, and texts are known by what they are.
 */
#define WIRE_PHP_INCLUDED 0x8000000000000000ull /* code of a file that another frame includes */

/* What a zend_string is known by: its hash, or its length and the two words that end with its last
 * character. Of a text that is shorter they begin in what stands before the characters, which is
 * left out. (Little-endian memory order.) */
static inline __wire_u64 wire_php_mark(__wire_u64 hash, __wire_u64 length, __wire_u64 before,
                                       __wire_u64 last) {
    if (hash)
        return hash;
    if (length <= 8)
        before = 0;
    else if (length < 16)
        before >>= 128 - 8 * length;
    if (!length)
        last = 0;
    else if (length < 8)
        last >>= 64 - 8 * length;
    return length * 0x9e3779b97f4a7c15ull ^ before * 0xc2b2ae3d27d4eb4full ^
           last * 0x165667b19e3779f9ull;
}

/* `scope` (the name of the class), `name`, `file`: wire_php_mark(), or 0; or the addresses of all
 * (of the class itself), where a walk could not read one. A trait's method is in several classes,
 * which come to lie where another request's lay. PHP's own functions have neither line nor file. */
static inline __wire_u32 wire_php_cookie(__wire_u32 first_line, __wire_u64 scope, __wire_u64 name,
                                         __wire_u64 file) {
    __wire_u64 mixed =
        name * 0x9e3779b97f4a7c15ull ^ file * 0xc2b2ae3d27d4eb4full ^ scope * 0x165667b19e3779f9ull;

    return first_line ^ (__wire_u32)(mixed >> 32) ^ (__wire_u32)mixed;
}

WIRE_ASSERT(sizeof(struct wire_php_layout) == 64, "wire_php_layout");

#endif
