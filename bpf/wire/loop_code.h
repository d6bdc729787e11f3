/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The code of an interpreter's loop, whose native frames run the language's. */
#ifndef AUGER_WIRE_LOOP_CODE_H
#define AUGER_WIRE_LOOP_CODE_H

#include "types.h"

/* Addresses from a place in the same file on, modulo 2^64: they may lie before it. */
struct wire_loop_code {
    __wire_u64 body;
    __wire_u64 body_size; /* bytes; 0: there is none, or it is not looked for */
    __wire_u64 cold;      /* the part of it that the compiler has put elsewhere */
    __wire_u64 cold_size; /* 0: there is none */
};

WIRE_ASSERT(sizeof(struct wire_loop_code) == 32, "wire_loop_code");

#endif
