/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The contract of stack unwinding: call frame information (.eh_frame, .debug_frame) compiled by
 * loader/unwind into tables that the walker (unwind.bpf.c) reads, and how it finds the table of an
 * address in a process. Plain data, read by both sides.
 *
 * All tables live in one address space of 8-byte cells (`unwind_cells`: shards of
 * WIRE_UNWIND_SHARD_CELLS, made on demand, each an array of blocks: one look-up gives a walk a
 * whole block). One table covers one executable segment of one file:
 *
 *   pages  u32 each, number_of_pages + 1: of every WIRE_UNWIND_PAGE bytes of code the index of the
 *          first row in it; the last entry is the number of rows
 *   rows   u32 each, by address: the offset in its page (low WIRE_UNWIND_PAGE_BITS bits) and the
 *          index of the rule that holds from there to the next row
 *   rules  wire_unwind_rule each; rule 0 is "not covered" (WIRE_CFA_NONE)
 *
 * Each of the three, and each list of mappings, begins at a multiple of WIRE_UNWIND_ALIGNMENT
 * cells, so that no rule and no mapping lies in two blocks; u32s stand two in a cell, the lower
 * index first (little-endian memory order). Before the first row, nothing is covered.
 */
#ifndef AUGER_UNWIND_TABLE_H
#define AUGER_UNWIND_TABLE_H

#include "wire.h"
#include "wire/go_labels.h"
#include "wire/hotspot.h"
#include "wire/perl.h"
#include "wire/php.h"
#include "wire/python.h"
#include "wire/ruby.h"
#include "wire/thread_places.h"
#include "wire/tokio.h"
#include "wire/v8.h"

/* What is replaced in cells and tables is left alone for so long: a walk that began before is over
 * by then, or knows that it was held up. */
#define WIRE_UNWIND_REST_NS 1000000000ull
/* A walk that has taken as many jiffies may have read what is another table's by then: 50 to 500
 * ms, by the kernel's configuration. */
#define WIRE_UNWIND_LATE_JIFFIES 50

enum wire_unwind_limit {
    WIRE_UNWIND_PAGE_BITS = 8,
    WIRE_UNWIND_PAGE = 1 << WIRE_UNWIND_PAGE_BITS, /* bytes of code */
    WIRE_UNWIND_SHARD_BITS = 17,
    WIRE_UNWIND_SHARD_CELLS = 1 << WIRE_UNWIND_SHARD_BITS, /* 1 MB */
    WIRE_UNWIND_BLOCK_BITS = 9,
    WIRE_UNWIND_BLOCK_CELLS = 1 << WIRE_UNWIND_BLOCK_BITS, /* 4 KB */
    WIRE_UNWIND_SHARD_BLOCKS = WIRE_UNWIND_SHARD_CELLS / WIRE_UNWIND_BLOCK_CELLS,
    WIRE_UNWIND_ALIGNMENT = 4, /* cells */
    WIRE_UNWIND_SHARDS = 4096,
    WIRE_UNWIND_TABLES = 65536,
    WIRE_UNWIND_PROCESSES = 65536,
    WIRE_UNWIND_MAX_RULES = 65536, /* of one table */
};

/* How the canonical frame address (CFA: the caller's stack pointer) is found. Registers are
 * numbered as DWARF does. Two are followed beside the stack pointer: rbp and rbx are their names
 * here, after those of x86-64. */
enum wire_cfa_kind {
    WIRE_CFA_NONE = 0,     /* no call frame information covers the address */
    WIRE_CFA_REGISTER = 1, /* register + offset */
    WIRE_CFA_MEMORY = 2,   /* *(register + offset) + addend: stack-realigning functions */
    WIRE_CFA_PLT = 3,      /* register + offset + ((rip & 15) >= addend ? 8 : 0): lazy PLT stubs */
    WIRE_CFA_SIGNAL = 4,   /* a signal's frame: registers lie in the ucontext at rsp */
    WIRE_CFA_END = 5,      /* the outermost frame: its return address is undefined */
    WIRE_CFA_UNSUPPORTED = 6, /* by a rule that this format cannot say */
    WIRE_CFA_OTHER_STACK = 7, /* register + offset, on another stack than this frame */
    /* On the stack of the goroutine for which Go's runtime is at work on another stack: the word at
     * `offset` from the thread pointer leads, by `rbx_offset`, `rbp_offset` and `addend`, to the
     * stack pointer that the goroutine has left. rbp is the caller's. */
    WIRE_CFA_GOROUTINE = 8,
};

/* Where a register of the caller's is. */
enum wire_saved_kind {
    WIRE_SAVED_NOT = 0,    /* it still has the caller's value */
    WIRE_SAVED_AT_CFA = 1, /* in memory at CFA + 8 * offset */
    WIRE_SAVED_AT_RBP = 2, /* in memory at this frame's rbp + 8 * offset */
    WIRE_SAVED_LOST = 3,   /* undefined, or in a way that this format cannot say */
};

enum wire_return_kind {
    WIRE_RETURN_AT_CFA = 0,    /* the return address is at CFA - 8 */
    WIRE_RETURN_REGISTER = 1,  /* in the register `return_register` (vfork) */
    WIRE_RETURN_GOROUTINE = 2, /* WIRE_CFA_GOROUTINE: beside the stack pointer, which is the CFA */
};

/* Of the caller's registers only those are followed by which outer frames' CFA can be found. */
struct wire_unwind_rule {
    __wire_u8 cfa; /* wire_cfa_kind */
    __wire_u8 cfa_register;
    __wire_s16 addend;
    __wire_s32 offset;
    __wire_u8 rbp_saved; /* wire_saved_kind */
    __wire_u8 rbx_saved;
    __wire_u8 return_kind; /* wire_return_kind */
    __wire_u8 return_register;
    __wire_s16 rbp_offset;
    __wire_s16 rbx_offset;
};

/* Whether there is a table behind a wire_unwind_mapping. */
enum wire_unwind_state {
    WIRE_UNWIND_ABSENT = 0,  /* there will be none: no call frame information */
    WIRE_UNWIND_PENDING = 1, /* it is being made */
    WIRE_UNWIND_READY = 2,
};

/* A table, by its number. Written by user space; `state` last, so that no walk sees half of it. */
struct wire_unwind_table {
    __wire_u32 state;
    __wire_u32 pages; /* number of pages */
    __wire_u32 rows;
    __wire_u32 rules;
    __wire_u32 page_cell; /* first cells */
    __wire_u32 row_cell;
    __wire_u32 rule_cell;
    __wire_u32 handlers_cell; /* of V8's interpreter: see wire/v8.h; 0: that is not known */
};

/* An executable mapping of a process: 4 cells. A process's mappings are sorted by address. */
struct wire_unwind_mapping {
    __wire_u64 start; /* [start, end) */
    __wire_u64 end;
    __wire_u64 bias; /* the table speaks of address - bias */
    __wire_u32 table;
    __wire_u32 kind; /* wire_mapping_kind */
};

enum wire_mapping_kind {
    WIRE_MAPPING_FILE = 0,    /* `table` is one */
    WIRE_MAPPING_JIT = 1,     /* generated code: frame pointers */
    WIRE_MAPPING_HOTSPOT = 2, /* ... of HotSpot's: see wire/hotspot.h */
    WIRE_MAPPING_V8 = 3,      /* ... of V8's: frame pointers; see wire/v8.h */
    WIRE_MAPPING_V8_FILE = 4, /* V8 itself, with its interpreter: `table` is one */
};

/* Where the mappings of a process stand. */
struct wire_unwind_process {
    __wire_u32 cell;
    __wire_u32 mappings;
    __wire_u64 python;             /* address of _PyRuntime; 0: it is none of CPython's */
    __wire_u32 python_layout;      /* number of its wire_python_layout */
    __wire_u32 hotspot;            /* 1 + number of its wire_hotspot; 0: it has none */
    __wire_u64 php;                /* address of executor_globals; 0: it is none of PHP's */
    __wire_u32 php_layout;         /* number of its wire_php_layout */
    __wire_u32 v8;                 /* 1 + number of its wire_v8; 0: it has none */
    struct wire_thread_place ruby; /* of ruby_current_ec; way 0: it is none of Ruby's */
    __wire_u32 ruby_layout;        /* number of its wire_ruby_layout */
    __wire_u32 perl_layout;        /* number of its wire_perl_layout */
    __wire_u64 perl;               /* address of PL_thr_key; 0: it is none of Perl's */
    struct wire_go_labels go;      /* of Go's goroutines */
    struct wire_tokio_task tokio;     /* id 0: tokio's tasks are not known */
    struct wire_virtual_threads java; /* thread.way 0: virtual threads are not known */
};

/* Why a walk ended. Behind the outermost frame of a stack that is cut stands one word more:
 * WIRE_STACK_CUT | cause. */
enum wire_unwind_stop {
    WIRE_STOP_END = 0,         /* whole: nothing is appended */
    WIRE_STOP_DEPTH = 1,       /* WIRE_MAX_FRAMES */
    WIRE_STOP_NO_MAPPING = 2,  /* an address in no executable mapping that is known */
    WIRE_STOP_PENDING = 3,     /* the table of its module is not ready yet */
    WIRE_STOP_NO_TABLE = 4,    /* no call frame information, and no frame pointer that holds */
    WIRE_STOP_UNREADABLE = 5,  /* the stack could not be read at that moment */
    WIRE_STOP_UNSUPPORTED = 6, /* by a rule that tables cannot say */
    WIRE_STOP_STUCK = 7,       /* the caller's frame does not lie above: the stack is damaged */
    WIRE_STOP_LATE = 8,        /* the walk was held up for so long that its tables may be others' */
    WIRE_STOP_SPARED = 9,      /* of a wait in which no sample was expected: nothing was walked */
    WIRE_STOP_IN_HEAP = 10,    /* a virtual thread's callers are in Java's heap */
    WIRE_STOPS,
};

/*
 * Behind a sample whose stack was cut because its module's table or its process's mappings were not
 * there yet: registers of the frame that the walk came to, and the stack from there on, for user
 * space to go on when it knows them. The frame's address is the last one before the cause.
 */
struct wire_stack_copy {
    __wire_u64 sp;
    __wire_u64 bp;
    __wire_u64 bx;
    __wire_u16 bx_state;   /* wire_rbx_state */
    __wire_u16 chain_stop; /* why an interpreter lacks frames, a wire_unwind_stop; 0: it has all */
    __wire_u32 bytes;      /* that follow: [start, start + bytes) */
    __wire_u64 start;
};

enum wire_stack_copy_limit {
    WIRE_STACK_COPY = 8192,  /* bytes */
    WIRE_STACK_COPIES = 500, /* a second and CPU: more are not made */
};

/* Where a frame's rbx is. */
enum wire_rbx_state {
    WIRE_RBX_VALUE = 0,
    WIRE_RBX_MEMORY = 1, /* at this address */
    WIRE_RBX_LOST = 2,
};

#define WIRE_STACK_CUT 0x4000000000000000ull
/* Set in the address of a frame that did not call, but was interrupted by a signal: the address is
 * that of the next instruction, not one behind a call. */
#define WIRE_FRAME_EXACT 0x2000000000000000ull
/* The first of the two words that a frame of a runtime takes. Of Python's and PHP's it stands
 * behind the native frame that runs it, of Ruby's and Perl's behind all native frames, of others'
 * in place of one: see wire/python.h, wire/php.h, wire/ruby.h, wire/perl.h, wire/hotspot.h and
 * wire/v8.h. Go's are native frames; behind all of them stands a label (wire/go_labels.h). */
#define WIRE_FRAME_RUNTIME 0x1000000000000000ull
#define WIRE_FRAME_KIND 0x1f00000000000000ull /* the bits that tell them apart */
#define WIRE_FRAME_PYTHON (WIRE_FRAME_RUNTIME | 0x0100000000000000ull)
#define WIRE_FRAME_HOTSPOT_CODE (WIRE_FRAME_RUNTIME | 0x0200000000000000ull)
#define WIRE_FRAME_HOTSPOT_BYTECODE (WIRE_FRAME_RUNTIME | 0x0300000000000000ull)
#define WIRE_FRAME_V8 (WIRE_FRAME_RUNTIME | 0x0400000000000000ull)
#define WIRE_FRAME_PHP (WIRE_FRAME_RUNTIME | 0x0500000000000000ull)
#define WIRE_FRAME_V8_CODE (WIRE_FRAME_RUNTIME | 0x0600000000000000ull)
#define WIRE_FRAME_GO_LABEL (WIRE_FRAME_RUNTIME | 0x0700000000000000ull)
#define WIRE_FRAME_RUBY (WIRE_FRAME_RUNTIME | 0x0800000000000000ull)
#define WIRE_FRAME_RUBY_METHOD (WIRE_FRAME_RUNTIME | 0x0900000000000000ull)
#define WIRE_FRAME_RUBY_OWNER (WIRE_FRAME_RUNTIME | 0x0a00000000000000ull)
#define WIRE_FRAME_PERL (WIRE_FRAME_RUNTIME | 0x0c00000000000000ull)
#define WIRE_FRAME_PERL_PLACE (WIRE_FRAME_RUNTIME | 0x0d00000000000000ull)
#define WIRE_FRAME_PERL_COP (WIRE_FRAME_RUNTIME | 0x0e00000000000000ull)

WIRE_ASSERT(sizeof(struct wire_unwind_rule) == 16, "wire_unwind_rule");
WIRE_ASSERT(sizeof(struct wire_unwind_table) == 32, "wire_unwind_table");
WIRE_ASSERT(sizeof(struct wire_unwind_mapping) == 32, "wire_unwind_mapping");
WIRE_ASSERT(sizeof(struct wire_unwind_process) == 120, "wire_unwind_process");
WIRE_ASSERT(sizeof(struct wire_stack_copy) == 40, "wire_stack_copy");
/* Where a stack is cut, it is asked whether the word there is a first one. */
WIRE_ASSERT(!(WIRE_PHP_INCLUDED & WIRE_FRAME_RUNTIME), "WIRE_PHP_INCLUDED");

#endif
