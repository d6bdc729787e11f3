/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Taking stacks: the current thread's own by its call frame information, the kernel's by the
 * kernel. */
#ifndef AUGER_UNWIND_H
#define AUGER_UNWIND_H

#include "go_labels.h"
#include "maps.h"
#include "unwind_table.h"

enum {
    STACK_PAGE = 4096,
    STACK_WINDOW_WORDS = 128,
    STACK_WINDOW = STACK_WINDOW_WORDS * sizeof(u64),
    PYTHON_BYTES = 256,
    HOTSPOT_BYTES = 512,
    V8_BYTES = 128,
    PHP_FUNCTION_BYTES = 256,
    PHP_FRAME_BYTES = 64,
    PERL_BYTES = 128,
};

/* The verifier follows every turn of a loop, but a __noinline function once. So long loops are
 * loops of a function that makes so many turns. */
enum { TURNS_AT_ONCE = 32 };

/*
 * An interpreter's own frames, of which one native frame runs many: two words each, leaf first, as
 * the interpreter's chain has them when the stack is taken. What one native frame runs is a piece;
 * behind it stands a boundary, a pair without an address (WIRE_FRAME_PYTHON, WIRE_FRAME_PHP,
 * WIRE_FRAME_RUBY, WIRE_FRAME_PERL).
 */
struct frame_chain {
    volatile u32 count;  /* pairs */
    volatile u32 placed; /* of them, that stand behind their native frames */
    u32 stop;            /* why frames lack behind the last, a wire_unwind_stop; 0: none do */
    u32 each;            /* 1: each frame is a piece, without a boundary: WIRE_PYTHON_EACH */
    u64 words[WIRE_STACK_WORDS];
};

/* The loop that runs an interpreter's frames, where it is told by its code: addresses are the
 * process's. */
struct loop_walk {
    struct wire_loop_code code;
    u64 is_at_hand; /* 1: the frame at hand is of that code */
};

/* CPython's frames of the thread that a walk is of. */
struct python_walk {
    u64 boundary; /* of the next piece of the chain that has no place yet; 0: there is none */
    u64 thread_pointer;
    u64 interpreter; /* of the search for the thread */
    u64 thread;
    u64 nascent; /* 1: a state had no frame, perhaps no thread yet */
    u64 frame;   /* the next one */
    u64 cframe;  /* of the loop that runs it: WIRE_PYTHON_CFRAME */
    /* The outermost coroutine of the run of generators' frames at hand (python_task.h); 0: none
     * yet. With the code object that it runs, and what that is known by. */
    u64 coroutine;
    u64 coroutine_code;
    u32 coroutine_cookie;
    u32 cookie;     /* of the last frame that was added */
    u64 outermost;  /* address of the last function's frame that was read */
    u32 has_task;   /* 1: it is the task's */
    u32 wants_task; /* 1: who asks for the stack asks which task runs */
    u32 padding;
    u64 words[PYTHON_BYTES / sizeof(u64)]; /* what was read last */
};

/* PHP's, likewise. */
struct php_walk {
    u64 frame;       /* the next one */
    u64 instruction; /* of the innermost frame, by the register that has it; 0: not known */
    u64 mark;        /* of the text that was read last */
    u64 function[PHP_FUNCTION_BYTES / sizeof(u64)]; /* that was read last */
    u64 words[PHP_FRAME_BYTES / sizeof(u64)];       /* of the frame that was read last */
};

/* Ruby's, likewise. */
struct ruby_walk {
    u64 next; /* the next control frame, and where they end */
    u64 end;
    u64 method; /* method entry of the frame at hand; 0: it has none */
    u32 method_cookie;
    u32 has_chain; /* 1: the chain of frames is Ruby's */
    u32 hops;      /* that may still be made from environments outwards */
    u32 padding;
    /* What was read last. */
    u64 context[3];
    u64 environment[WIRE_RUBY_ENV_WORDS];
    u64 frame[WIRE_RUBY_FRAME_BYTES / sizeof(u64)];
    u64 object[WIRE_RUBY_METHOD_BYTES / sizeof(u64)];
    u64 body[WIRE_RUBY_BODY_BYTES / sizeof(u64)];
};

/* Perl's, likewise. */
struct perl_walk {
    u64 interpreter; /* of the thread; 0: it has none */
    u64 cop;         /* the statement at which the next frame is */
    u64 op;          /* of it, that is executed or, with is_next, that will be */
    u64 contexts;    /* of the stack of contexts at hand */
    u64 previous;    /* the stack of contexts before it */
    u32 left;        /* of them, from the outermost on */
    u32 all;         /* likewise, with what is no sub or eval, or not any more */
    u32 stack_type;  /* wire_perl_stack */
    u32 is_block;    /* 1: of sort's, or the like, and begins with a block that is no sub */
    u32 is_next;     /* 1: a context further in was passed */
    /* Of the sub that was read last: its name, and what that is known by; its package; its first
     * statement, and the file that it is in. */
    u64 name;
    u64 name_mark;
    u64 stash;
    u64 start;
    u64 sub_file;
    u64 package; /* likewise, the package's; of `package_stash` */
    u64 package_mark;
    u64 package_stash;
    /* The place that was read last. */
    u64 place; /* the statement; 0: it is none that stays as it is */
    u64 file;  /* address of its name */
    u64 file_mark;
    u32 line;
    u32 padding;
    u64 words[PERL_BYTES / sizeof(u64)];    /* what was read last */
    u64 text[WIRE_PERL_FILE / sizeof(u64)]; /* likewise, of a file's name */
};

/* The words that tell of the frame at hand, where it is a runtime's. */
struct noted_frame {
    u64 first; /* 0: nothing is known of it */
    u64 second;
    u64 code; /* two more, which stand before; 0: there are none */
    u64 code_second;
};

/* Of the frame at hand, where it is HotSpot's. */
struct hotspot_walk {
    volatile u64 segment;                   /* of the search for its block */
    u64 blob;                               /* of its code: address of the CodeBlob */
    u64 words[HOTSPOT_BYTES / sizeof(u64)]; /* what was read last */
};

/* Whose frame the frame pointer leads to. */
enum v8_frame {
    V8_FRAME_UNKNOWN,
    V8_FRAME_COMPILED, /* that of a function which is not interpreted there */
    V8_FRAME_OWN,      /* that of the code that is executed */
};

/* Of the frame at hand, where it is V8's. */
struct v8_walk {
    u64 ip; /* at the frame at hand, and bp */
    u64 bp;
    u64 frame; /* v8_frame */
    u64 inner; /* ip of the one before it; 0: that is a function's, or none of V8's */
    u64 words[V8_BYTES / sizeof(u64)]; /* what was read last */
};

/* A walk of the current thread's user stack, and what came of it. Too big for the BPF stack: each
 * program has one where nobody else writes meanwhile. */
struct stack_walk {
    u64 frames[WIRE_STACK_WORDS]; /* leaf first: see wire_unwind_stop and WIRE_FRAME_EXACT */
    u32 count;
    volatile u32 low; /* of the search under way */
    volatile u32 high;
    /* 1: the kernel's code was interrupted, which may have been at work on a breakpoint. Set by
     * whoever has a walk made. */
    u32 in_kernel;
    u64 began; /* jiffies */
    /* The frame at hand. */
    u64 ip;
    u64 sp;
    u64 bp;
    u64 bx;
    u32 bx_state; /* wire_rbx_state */
    u32 exact;    /* 1: ip is the next instruction; 0: it is a return address */
    u64 code;     /* the address that is looked up: of the frame's last instruction begun */
    u64 slot;     /* where the next frame's return address lies */
    struct wire_unwind_rule rule;
    struct wire_unwind_mapping mapping; /* the last one found: the next frame often lies in it */
    struct wire_unwind_process process;
    /* The thread's innermost return probe that the walk has not passed yet; 0: none. */
    u64 return_instance;
    u64 return_instance_slot;
    /* A piece of the stack: [window_start, window_end). Reading words one by one would be most of
     * what a walk costs. */
    u64 window_start;
    u64 window_end;
    u64 window[STACK_WINDOW_WORDS];
    struct frame_chain chain;
    struct loop_walk loop;
    struct python_walk python;
    struct noted_frame noted;
    struct php_walk php;
    struct ruby_walk ruby;
    struct perl_walk perl;
    struct hotspot_walk hotspot;
    struct v8_walk v8;
    u64 parked_g; /* the goroutine whose stack it is, on no thread; 0: the stack is a thread's */
    struct go_label_search label;
};

/*
 * Walks the current thread's user stack. `at_return`: the thread is at an exit instruction of a
 * function, so that its return address is known to be at its stack pointer. Fills walk->frames and
 * returns their number, at most WIRE_STACK_WORDS; 0 of a kernel thread.
 */
int walk_user_stack(struct stack_walk* walk, bool at_return);

/* Cuts what walk_user_stack() has returned to `most` words, and returns how many are left. */
static __always_inline u32 cut_walk(struct stack_walk* walk, u32 words, u32 most) {
    if (words <= most)
        return words;
    // Of a frame of a runtime both words go: the second would be taken for an address.
    if (walk->frames[most - 2] & WIRE_FRAME_RUNTIME) {
        walk->frames[most - 2] = WIRE_STACK_CUT | WIRE_STOP_DEPTH;
        return most - 1;
    }
    walk->frames[most - 1] = WIRE_STACK_CUT | WIRE_STOP_DEPTH;
    return most;
}

/* Room for a copy: the last piece of a page is read to where it may begin. */
struct stack_copy {
    struct wire_stack_copy head;
    char stack[WIRE_STACK_COPY + STACK_PAGE];
};

/* Likewise the stack of a goroutine, by its descriptor, that is on no thread, from where it will go
 * on. */
int walk_parked_stack(struct stack_walk* walk, u64 g, u64 ip, u64 sp);

/*
 * Of a walk of the sampler's that was cut for want of a table or of mappings: copies what user
 * space needs to go on. Returns the bytes written to *copy; 0 of other walks, and beyond
 * WIRE_STACK_COPIES.
 */
int copy_stack(const struct stack_walk* walk, struct stack_copy* copy);

/* Writes at most WIRE_MAX_FRAMES words, leaf first, and returns how many. */
static __always_inline u32 take_kernel_stack(void* ctx, u64* frames) {
    long bytes = bpf_get_stack(ctx, frames, WIRE_MAX_FRAMES * sizeof(u64), 0);

    return bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
}

#endif
