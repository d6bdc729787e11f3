/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Specs: what is timed, where it is attached, and what it calls. */
#ifndef AUGER_WIRE_SPECS_H
#define AUGER_WIRE_SPECS_H

#include "spans.h"

/*
 * The cookie of an attachment: which spec it belongs to, in which generation (a probe of a deleted
 * spec that still fires while it is detached finds another one and does nothing), and for an exit
 * by a conditional jump the condition, since a probe on it fires whether it jumps or not. When a
 * function gets other probes while it is timed, both sets are attached for a moment: of its entry
 * probes only those count whose WIRE_COOKIE_SECOND agrees with the spec's WIRE_SPEC_SECOND.
 *
 * An exit may be a few instructions before the one that returns. The cookie says how many words
 * above the stack pointer, or the frame pointer, the return address lies there; 0 and the former:
 * it is the last instruction.
 *
 * A call site's probes (WIRE_COOKIE_CALL_SITE) sit in the caller: on the call instruction, whose
 * length stands in the cookie, and where it comes back to. One that calls through a pointer
 * (WIRE_COOKIE_POINTER) is a call of the function only when it goes there: see wire_call_operand.
 */
enum wire_cookie {
    WIRE_COOKIE_SPEC_MASK = 0xffff,
    WIRE_COOKIE_CONDITION_SHIFT =
        16, /* low four bits of the opcode: 0 (overflow) to 15 (greater) */
    WIRE_COOKIE_CONDITIONAL = 1 << 20,
    WIRE_COOKIE_SECOND = 1 << 21,
    WIRE_COOKIE_CALL_SITE = 1 << 22,
    WIRE_COOKIE_POINTER = 1 << 23,
    WIRE_COOKIE_CALL_LENGTH_SHIFT = 24, /* 4 bits */
    WIRE_COOKIE_STEPPED = 1 << 29,      /* of an exit: its instruction is single-stepped */
    WIRE_COOKIE_GENERATION_SHIFT = 32,  /* 16 bits */
    WIRE_COOKIE_FRAME_SHIFT = 48,
    WIRE_COOKIE_FRAME_MASK = 0x7fff,
    WIRE_COOKIE_FRAME_POINTER_SHIFT = 63,
};

/* One timed function. Written by user space at any time, read by the tracker at every call. */
enum wire_spec_flag {
    WIRE_SPEC_ENABLED = 1,
    WIRE_SPEC_TRACE_SLOW = 2, /* calls longer than slow_ns become WIRE_SLOW_CALL events */
    WIRE_SPEC_RETURN_PROBES = 4, /* its calls are seen to end by return probes */
    WIRE_SPEC_SECOND = 8,     /* its second set of probes is in force: see wire_cookie */
};

/* What a spec's calls are to explained ones: from 1 to WIRE_MAX_PARTS its number among their parts.
 */
enum wire_part {
    WIRE_PART_NONE = 0,    /* their time belongs to the call around them */
    WIRE_PART_WHOLE = 255, /* they are explained */
};

struct wire_spec {
    __wire_u64 slow_ns;
    __wire_u32 flags;
    __wire_u32 generation; /* 1 to 65535; a new one whenever the spec gets another function */
    /* Which terms of gates its calls are meant by: WIRE_MAX_GATE_TERMS bits a gate. */
    __wire_u32 terms;
    __wire_u32 counted_marks;     /* returned calls with these marks are counted each */
    __wire_u32 program;           /* its wire_call_program, from 1; 0: none */
    __wire_u32 part;              /* of explained calls: wire_part */
    struct wire_span_point point; /* role WIRE_SPAN_NONE: its calls are no points of a span */
    __wire_u64 limit_ns;          /* of a span: how long it may be open; 0: as long as it takes */
};

/* By number as instructions have them, from 1: note_operand_registers(). */
enum wire_operand_register {
    WIRE_OPERAND_NONE = 0,
    WIRE_OPERAND_REGISTERS = 16,
    WIRE_OPERAND_CALL = 17, /* the address of the call instruction itself */
};

/* Of a spec's call instruction: base + index * scale + displacement is where it goes or, in memory,
 * where that is stored. */
struct wire_call_operand {
    __wire_u8 base;
    __wire_u8 index;
    __wire_u8 scale;
    __wire_u8 in_memory;
    __wire_u32 other_files; /* 1: there are functions in other files than the caller's */
    __wire_u64 displacement;
};

/*
 * A function that the spec times, so named that it is the same in every process. In the caller's
 * own file by its distance. Elsewhere by inode, size and offset in the file: device numbers differ
 * between what a mapping has and what user space is told (overlayfs, btrfs).
 */
struct wire_call_target {
    __wire_u32 spec;
    __wire_u32 generation;
    __wire_u64 inode; /* 0: in the caller's file */
    __wire_u64 file_size;
    __wire_u64 offset; /* in the file, or from the call instruction */
};

#endif
