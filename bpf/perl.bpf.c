// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Perl's frames. A thread that runs Perl has an interpreter, under a key of pthread_getspecific(),
// and that has stacks of contexts: of subs, evals, loops and blocks. Each call from C may begin
// another one. All that is read may be anything: it is the process's.
#include "perl.h"
#include "frame_chain.h"
#include "kernel_types.h"
#include "maps.h"
#include "perl_read.h"

/* By number. Written by user space, read by walks; full: Perl's subs are not shown, which is said.
 */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_PERL_LAYOUTS);
    __type(key, u32);
    __type(value, struct wire_perl_layout);
} perl_layouts SEC(".maps");

enum {
    /* That are gone through. Loops and blocks are among them. */
    MOST_CONTEXTS = 1024,
    COP_BYTES = 24, /* the words that hold a statement's line, its package and its file */
    COP_WORDS_AT = WIRE_PERL_COP_LINE & ~7,
};

// Into walk->perl: a statement, and its line. The address of its file's name; 0: it is not known.
static __always_inline u64 read_statement(struct stack_walk* walk, u64 cop) {
    walk->perl.line = 0;
    walk->perl.place = 0;
    if (!cop || cop >> WIRE_PERL_FRAME_SHIFT ||
        bpf_probe_read_user(walk->perl.words, COP_BYTES, (void*)(cop + COP_WORDS_AT)))
        return 0;
    if (cop - walk->perl.interpreter >= WIRE_PERL_INTERPRETER)
        walk->perl.place = cop;
    walk->perl.line = wire_perl_line(perl_half(walk, WIRE_PERL_COP_LINE - COP_WORDS_AT));
    return perl_word(walk, WIRE_PERL_COP_FILE - COP_WORDS_AT);
}

// Likewise of the innermost sub, which has no statement of its own yet: its first one.
static __always_inline u64 read_first_statement(struct stack_walk* walk) {
    u64 start = walk->perl.start, code = 0, other = 0;

    if (start && read_word(start + WIRE_PERL_OP_CODE, &code) &&
        read_word(walk->perl.cop + WIRE_PERL_OP_CODE, &other) && code && code == other)
        return read_statement(walk, start);
    walk->perl.line = 0;
    walk->perl.place = 0;
    return walk->perl.sub_file;
}

// The pair of words that says where a frame is, with what both pairs are known by.
static __always_inline void add_place(struct stack_walk* walk, u32 cookie, u64 op) {
    u64 first = WIRE_FRAME_PERL_PLACE | WIRE_PERL_NONE;
    u32 upper = walk->perl.line;

    if (walk->perl.file && walk->perl.place) {
        first = WIRE_FRAME_PERL_COP | walk->perl.place;
        upper = wire_perl_way(walk->perl.place, op, walk->perl.is_next);
    } else if (walk->perl.file) {
        first = WIRE_FRAME_PERL_PLACE | walk->perl.file;
    }
    add_to_chain(walk, first, (u64)upper << 32 | cookie);
}

// Adds a frame of what was read last.
__noinline int add_perl_frame(struct stack_walk* walk, u32 kind, bool has_just_begun) {
    u64 name, package;
    u32 cookie;

    if (!walk)
        return 0;
    note_file(walk,
              has_just_begun ? read_first_statement(walk) : read_statement(walk, walk->perl.cop));
    name = kind == WIRE_PERL_FRAME_SUB ? walk->perl.name : 0;
    package = kind == WIRE_PERL_FRAME_SUB ? walk->perl.package : 0;
    cookie =
        wire_perl_cookie(name ? walk->perl.name_mark : 0, package ? walk->perl.package_mark : 0,
                         walk->perl.file_mark, walk->perl.line);
    add_to_chain(walk, WIRE_FRAME_PERL | (name ? name : WIRE_PERL_NONE),
                 package | (u64)kind << WIRE_PERL_FRAME_SHIFT);
    add_place(walk, cookie, has_just_begun ? 0 : walk->perl.op);
    return 0;
}

// No frame and boundary would fit any more.
static __always_inline bool is_chain_full(const struct stack_walk* walk) {
    return walk->chain.count > FRAMES_OF_CHAIN - 3;
}

// From a frame to its caller's place.
static __always_inline void leave_frame(struct stack_walk* walk, u64 caller, u64 next) {
    walk->perl.cop = caller;
    walk->perl.op = next;
    walk->perl.is_next = 1;
}

static __always_inline void add_boundary(struct stack_walk* walk, u64 kind) {
    add_to_chain(walk, WIRE_FRAME_PERL, kind);
}

// Whether the innermost sub was entered at the statement that is executed, and has not come to one
// of its own. One that calls itself is entered at its own statement.
static __always_inline bool has_just_begun(const struct stack_walk* walk, u64 caller, u64 next) {
    u64 op_next;

    if (walk->perl.is_next || caller != walk->perl.cop)
        return false;
    return walk->perl.op == walk->perl.start ||
           (read_word(walk->perl.op + WIRE_PERL_OP_NEXT, &op_next) && op_next == next);
}

// A stack of sort's, or of another that calls a sub many times, ends as a whole: what compares has
// no op behind it, whether it is a block, a sub or what the block calls.
static __always_inline bool is_called_from_c(const struct stack_walk* walk, u64 next) {
    u32 at = walk->perl.left;

    if (next)
        return false;
    if (walk->perl.stack_type != WIRE_PERL_STACK_SORT &&
        walk->perl.stack_type != WIRE_PERL_STACK_MULTICALL)
        return true;
    return at > walk->perl.is_block;
}

// The sub or format of a context. While it is left there is none any more.
static __always_inline void read_sub(struct stack_walk* walk, const struct wire_perl_layout* layout,
                                     u32 type) {
    u64 caller, next, sub;
    u32 kind = type & WIRE_PERL_CONTEXT_KIND;

    caller = perl_word(walk, WIRE_PERL_CONTEXT_COP);
    next = perl_word(walk, WIRE_PERL_CONTEXT_NEXT);
    sub = perl_word(walk, layout->context_sub);
    // The code of a regular expression is the sub's around it.
    if (kind == WIRE_PERL_IN_SUB && type & WIRE_PERL_SUB_FAKE)
        sub = 0;
    else if (sub)
        kind =
            note_perl_sub(walk, sub, kind == WIRE_PERL_IN_SUB ? WIRE_PERL_SUB : WIRE_PERL_FORMAT) &&
                    note_perl_package(walk, layout)
                ? WIRE_PERL_FRAME_SUB
                : WIRE_PERL_FRAME_UNREAD;
    if (sub) {
        add_perl_frame(walk, kind, has_just_begun(walk, caller, next));
    }
    if (!(type & WIRE_PERL_SUB_FAKE))
        leave_frame(walk, caller, next);
    if (is_called_from_c(walk, next))
        add_boundary(walk, WIRE_PERL_CALLED);
}

static __always_inline void read_eval(struct stack_walk* walk, u32 type) {
    u64 caller = perl_word(walk, WIRE_PERL_CONTEXT_COP),
        next = perl_word(walk, WIRE_PERL_CONTEXT_NEXT);
    u32 text_or_block = type & (WIRE_PERL_EVAL_TEXT | WIRE_PERL_EVAL_BLOCK);

    if (type & WIRE_PERL_EVAL_TRY)
        return;
    add_perl_frame(walk, text_or_block ? WIRE_PERL_FRAME_EVAL : WIRE_PERL_FRAME_REQUIRE, false);
    leave_frame(walk, caller, next);
    // call_sv() puts an eval around what it calls, and that has a boundary of its own.
    if (type & WIRE_PERL_EVAL_TEXT && !next)
        add_boundary(walk, WIRE_PERL_CALLED);
}

// Goes to a stack of contexts. Whether it is one.
static __always_inline bool enter_stack(struct stack_walk* walk,
                                        const struct wire_perl_layout* layout, u64 stack) {
    u32 index;
    u8 outermost = 0;

    if (!stack || bpf_probe_read_user(walk->perl.words, WIRE_PERL_STACK_BYTES, (void*)stack))
        return false;
    walk->perl.contexts = perl_word(walk, WIRE_PERL_STACK_CONTEXTS);
    walk->perl.previous = perl_word(walk, WIRE_PERL_STACK_PREVIOUS);
    walk->perl.stack_type = perl_half(walk, layout->stack_type);
    // The innermost context may be half written; that of a sub is told when it is whole.
    index = perl_half(walk, layout->stack_sub ? layout->stack_sub : WIRE_PERL_STACK_INDEX);
    walk->perl.left = index + 1;
    walk->perl.all = perl_half(walk, WIRE_PERL_STACK_INDEX) + 1;
    walk->perl.is_block = 0;
    if (walk->perl.left > WIRE_PERL_MOST_CONTEXTS ||
        walk->perl.stack_type > WIRE_PERL_MOST_STACK_TYPE)
        return false;
    if (walk->perl.left &&
        !bpf_probe_read_user(&outermost, sizeof(outermost), (void*)walk->perl.contexts))
        walk->perl.is_block = (outermost & WIRE_PERL_CONTEXT_KIND) == WIRE_PERL_IN_BLOCK ||
                              ((outermost & WIRE_PERL_CONTEXT_KIND) == WIRE_PERL_IN_SUB &&
                               outermost & (WIRE_PERL_SUB_RE | WIRE_PERL_SUB_FAKE));
    return true;
}

// While a sub or eval is left it is none of its stack's any more, but its statement is still the
// current one: the caller's is what the context says.
static __always_inline void pass_left_context(struct stack_walk* walk,
                                              const struct wire_perl_layout* layout) {
    u64 at = walk->perl.contexts + (u64)(walk->perl.all - 1) * layout->context_bytes;
    u32 kind;

    if (walk->perl.all <= walk->perl.left || walk->perl.all > WIRE_PERL_MOST_CONTEXTS ||
        bpf_probe_read_user(walk->perl.words, WIRE_PERL_CONTEXT_BYTES, (void*)at))
        return;
    kind = perl_word(walk, WIRE_PERL_CONTEXT_TYPE) & WIRE_PERL_CONTEXT_KIND;
    if (kind == WIRE_PERL_IN_SUB || kind == WIRE_PERL_IN_FORMAT || kind == WIRE_PERL_IN_EVAL)
        leave_frame(walk, perl_word(walk, WIRE_PERL_CONTEXT_COP),
                    perl_word(walk, WIRE_PERL_CONTEXT_NEXT));
}

// Behind the outermost context of a stack. Whether to go on.
static __always_inline bool leave_stack(struct stack_walk* walk,
                                        const struct wire_perl_layout* layout) {
    u32 type = walk->perl.stack_type;

    if (type == WIRE_PERL_STACK_MAIN) {
        add_perl_frame(walk, WIRE_PERL_FRAME_MAIN, false);
        return false;
    }
    if (type == WIRE_PERL_STACK_SORT || type == WIRE_PERL_STACK_MULTICALL)
        add_boundary(walk, WIRE_PERL_BLOCK);
    return enter_stack(walk, layout, walk->perl.previous);
}

// The next context outwards, or the next stack of them. Whether to go on.
__noinline int read_perl_context(struct stack_walk* walk, const struct wire_perl_layout* layout) {
    u64 at;
    u32 type;

    if (!walk || !layout || is_chain_full(walk))
        return 0;
    if (!walk->perl.left)
        return leave_stack(walk, layout);
    walk->perl.left--;
    at = walk->perl.contexts + (u64)walk->perl.left * layout->context_bytes;
    if (bpf_probe_read_user(walk->perl.words, WIRE_PERL_CONTEXT_BYTES, (void*)at)) {
        walk->chain.stop = WIRE_STOP_UNREADABLE;
        return 0;
    }
    type = (u8)perl_word(walk, WIRE_PERL_CONTEXT_TYPE);
    switch (type & WIRE_PERL_CONTEXT_KIND) {
    case WIRE_PERL_IN_SUB:
    case WIRE_PERL_IN_FORMAT:
        read_sub(walk, layout, type);
        break;
    case WIRE_PERL_IN_EVAL:
        read_eval(walk, type);
        break;
    }
    return 1;
}

__noinline int read_some_perl_contexts(struct stack_walk* walk,
                                       const struct wire_perl_layout* layout) {
    int more = 1;

    for (u32 i = 0; i < TURNS_AT_ONCE && more; i++)
        more = read_perl_context(walk, layout);
    return more;
}

// The address of what the current thread keeps under the key at hand; 0: it keeps nothing.
static __always_inline u64 read_thread_key(u64 place) {
    u64 thread = bpf_get_current_task_btf()->THREAD_POINTER, block = thread + THREAD_KEYS, kept;
    u32 key;

    if (bpf_probe_read_user(&key, sizeof(key), (void*)place) || key >= WIRE_PERL_KEYS)
        return 0;
    if (key >= THREAD_KEYS_OF_BLOCK &&
        (!read_word(thread + THREAD_KEY_BLOCKS + key / THREAD_KEYS_OF_BLOCK * sizeof(u64),
                    &block) ||
         !block))
        return 0;
    block += key % THREAD_KEYS_OF_BLOCK * 2 * sizeof(u64);
    return read_word(block + sizeof(u64), &kept) ? kept : 0;
}

__noinline int read_perl_frames(struct stack_walk* walk) {
    struct wire_perl_layout* layout;
    u64 interpreter, stack;
    int more = 1;
    u32 number;

    if (!walk)
        return 0;
    number = walk->process.perl_layout;
    layout = bpf_map_lookup_elem(&perl_layouts, &number);
    interpreter = read_thread_key(walk->process.perl);
    if (!layout || !interpreter ||
        !read_word(interpreter + WIRE_PERL_INTERPRETER_OP, &walk->perl.op) ||
        !read_word(interpreter + layout->interpreter_cop, &walk->perl.cop) ||
        !read_word(interpreter + layout->interpreter_stack, &stack) ||
        !enter_stack(walk, layout, stack))
        return 0;
    walk->perl.interpreter = interpreter;
    walk->perl.is_next = 0;
    walk->perl.package_stash = 0;
    walk->perl.package = 0;
    walk->perl.file = 0;
    pass_left_context(walk, layout);
    for (u32 i = 0; i < MOST_CONTEXTS / TURNS_AT_ONCE && more; i++)
        more = read_some_perl_contexts(walk, layout);
    if (more || is_chain_full(walk))
        walk->chain.stop = WIRE_STOP_DEPTH;
    return 0;
}
