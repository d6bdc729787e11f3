// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Ruby's frames. Each thread of Ruby's has an execution context, that of the fiber that it runs;
// the thread-local variable ruby_current_ec leads there, with the interpreter's lock (GVL) and
// without. In it control frames lie side by side, the innermost one first. All that is read may be
// anything: it is the process's.
#include "ruby.h"
#include "frame_chain.h"
#include "kernel_types.h"
#include "maps.h"
#include "thread_variable.h"
#include "user_memory.h"

#include ARCH(registers.h)

/* By number. Written by user space, read by walks; full: Ruby's functions are not shown, which is
 * said. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_RUBY_LAYOUTS);
    __type(key, u32);
    __type(value, struct wire_ruby_layout);
} ruby_layouts SEC(".maps");

enum {
    /* Of a chain, that two frames with their methods and a boundary may take. */
    ROOM_OF_FRAME = 3,
};

static __always_inline bool is_address(u64 address) {
    return address && !(address >> USER_ADDRESS_BITS);
}

static __always_inline bool read_environment(struct stack_walk* walk, u64 environment) {
    return is_address(environment) &&
           !bpf_probe_read_user(walk->ruby.environment, sizeof(walk->ruby.environment),
                                (void*)(environment - WIRE_RUBY_ENV_FLAGS * sizeof(u64)));
}

static __always_inline bool read_object(struct stack_walk* walk, u64 object) {
    return is_address(object) &&
           !bpf_probe_read_user(walk->ruby.object, WIRE_RUBY_METHOD_BYTES, (void*)object);
}

// Members of what was read last.
static __always_inline u64 word_of_frame(const struct stack_walk* walk, u32 offset) {
    return walk->ruby.frame[offset / sizeof(u64)];
}

static __always_inline u64 word_of_object(const struct stack_walk* walk, u32 offset) {
    return walk->ruby.object[offset / sizeof(u64)];
}

static __always_inline u64 word_of_body(const struct stack_walk* walk, u32 offset) {
    return walk->ruby.body[offset / sizeof(u64)];
}

static __always_inline u32 kind_of_object(const struct stack_walk* walk) {
    return word_of_object(walk, WIRE_RUBY_OBJECT_FLAGS) & WIRE_RUBY_OBJECT_MASK;
}

// Whether the object is a method entry, or leads to one: then it is walk->ruby.method.
static __always_inline bool note_method(struct stack_walk* walk, u64 object, bool is_local) {
    if (!read_object(walk, object))
        return false;
    // What a method keeps of its last match ($~) stands between.
    if (is_local && kind_of_object(walk) == WIRE_RUBY_SVAR) {
        object = word_of_object(walk, WIRE_RUBY_SVAR_METHOD);
        if (!read_object(walk, object))
            return false;
    }
    if (kind_of_object(walk) != WIRE_RUBY_METHOD_ENTRY)
        return false;
    walk->ruby.method = object;
    walk->ruby.method_cookie = wire_ruby_method_cookie(
        word_of_object(walk, WIRE_RUBY_METHOD_DEFINITION),
        word_of_object(walk, WIRE_RUBY_METHOD_NAME), word_of_object(walk, WIRE_RUBY_METHOD_OWNER));
    return true;
}

// From the environment that was read last outwards; walk->ruby.method is 0 when there is none.
__noinline int find_ruby_method(struct stack_walk* walk) {
    if (!walk)
        return 0;
    walk->ruby.method = 0;
    for (u32 i = 0; i < WIRE_RUBY_MOST_HOPS && walk->ruby.hops; i++) {
        bool is_local = walk->ruby.environment[WIRE_RUBY_ENV_FLAGS] & WIRE_RUBY_LOCAL;

        walk->ruby.hops--;
        if (note_method(walk, walk->ruby.environment[WIRE_RUBY_ENV_METHOD], is_local) || is_local ||
            !read_environment(walk, walk->ruby.environment[WIRE_RUBY_ENV_OUTER] & ~3ull))
            return 0;
    }
    return 0;
}

// The body of the code that the frame runs.
static __always_inline bool read_body(struct stack_walk* walk, u64* body) {
    u64 iseq = word_of_frame(walk, WIRE_RUBY_FRAME_ISEQ);

    return is_address(iseq) && read_word(iseq + WIRE_RUBY_ISEQ_BODY, body) && is_address(*body) &&
           !bpf_probe_read_user(walk->ruby.body, WIRE_RUBY_BODY_BYTES, (void*)*body);
}

// Where in the body that was read last the frame is; in the upper half.
static __always_inline u64 offset_in_body(const struct stack_walk* walk) {
    u64 bytes =
        word_of_frame(walk, WIRE_RUBY_FRAME_PC) - word_of_body(walk, WIRE_RUBY_BODY_INSTRUCTIONS);
    u64 words = bytes / sizeof(u64), size = word_of_body(walk, WIRE_RUBY_BODY_KIND) >> 32;

    if (words > size || words > WIRE_RUBY_MOST_OFFSET)
        words = WIRE_RUBY_NO_OFFSET;
    return words << 32;
}

static __always_inline void add_unreadable(struct stack_walk* walk) {
    add_to_chain(walk, WIRE_FRAME_RUBY | WIRE_RUBY_NO_CODE, 0);
}

// Of the frame that was read last, which runs code.
__noinline int add_ruby_code(struct stack_walk* walk, u32 kind) {
    u64 body, offset;
    u32 cookie;

    if (!walk)
        return 0;
    if (!read_body(walk, &body)) {
        add_unreadable(walk);
        return 0;
    }
    offset = offset_in_body(walk);
    cookie = wire_ruby_code_cookie(walk->ruby.body);
    if (kind == WIRE_RUBY_METHOD_FRAME && walk->ruby.method) {
        add_to_chain(walk, WIRE_FRAME_RUBY_METHOD | walk->ruby.method,
                     offset | wire_ruby_frame_cookie(walk->ruby.method_cookie, cookie));
        return 0;
    }
    if (walk->ruby.method)
        add_to_chain(walk, WIRE_FRAME_RUBY_OWNER | walk->ruby.method, walk->ruby.method_cookie);
    add_to_chain(walk, WIRE_FRAME_RUBY | body, offset | cookie);
    return 0;
}

static __always_inline void add_c_function(struct stack_walk* walk) {
    if (!walk->ruby.method) {
        add_unreadable(walk);
        return;
    }
    add_to_chain(walk, WIRE_FRAME_RUBY_METHOD | walk->ruby.method,
                 (u64)WIRE_RUBY_NO_OFFSET << 32 | walk->ruby.method_cookie);
}

// From walk->ruby.next to its caller's. Whether to go on.
__noinline int read_ruby_frame(struct stack_walk* walk, const struct wire_ruby_layout* layout) {
    u64 next, flags;
    u32 kind;

    if (!walk || !layout)
        return 0;
    next = walk->ruby.next;
    if (next >= walk->ruby.end)
        return 0;
    if (walk->chain.count > FRAMES_OF_CHAIN - ROOM_OF_FRAME) {
        walk->chain.stop = WIRE_STOP_DEPTH;
        return 0;
    }
    walk->ruby.next = next + layout->frame_bytes;
    if (bpf_probe_read_user(walk->ruby.frame, WIRE_RUBY_FRAME_BYTES, (void*)next) ||
        !read_environment(walk, word_of_frame(walk, WIRE_RUBY_FRAME_EP))) {
        add_unreadable(walk);
        walk->chain.stop = WIRE_STOP_UNREADABLE;
        return 0;
    }
    flags = walk->ruby.environment[WIRE_RUBY_ENV_FLAGS];
    kind = flags & WIRE_RUBY_FRAME_MASK;
    if (kind == WIRE_RUBY_DUMMY_FRAME)
        return 1;
    // What was read of the environment is another one's afterwards.
    find_ruby_method(walk);
    if (kind == WIRE_RUBY_C_FRAME)
        add_c_function(walk);
    // As Ruby's own backtraces have it: blocks that are C functions, and code that has not begun,
    // are none.
    else if (word_of_frame(walk, WIRE_RUBY_FRAME_ISEQ) && word_of_frame(walk, WIRE_RUBY_FRAME_PC))
        add_ruby_code(walk, kind);
    if (flags & WIRE_RUBY_FINISH)
        add_to_chain(walk, WIRE_FRAME_RUBY, 0);
    return 1;
}

__noinline int read_some_ruby_frames(struct stack_walk* walk,
                                     const struct wire_ruby_layout* layout) {
    int more = 1;

    for (u32 i = 0; i < TURNS_AT_ONCE && more; i++)
        more = read_ruby_frame(walk, layout);
    return more;
}

// Goes to the innermost frame of the thread's context. False: it has none. A thread that has ended
// and waits to be another one keeps its variable, and its context may be another thread's by then;
// so the native stack must be the context's.
static __always_inline bool find_context(struct stack_walk* walk,
                                         const struct wire_ruby_layout* layout) {
    u64 variable, context, machine[3], bytes;

    if (!find_thread_variable(&walk->process.ruby, &variable) || !variable ||
        !read_word(variable, &context) || !is_address(context) ||
        bpf_probe_read_user(walk->ruby.context, sizeof(walk->ruby.context), (void*)context) ||
        bpf_probe_read_user(machine, sizeof(machine), (void*)(context + layout->context_machine)))
        return false;
    // Ruby leaves some of the stack out of what it may take; 0: it does not know.
    bytes = machine[2] + (machine[2] >> 2);
    if (bytes && machine[0] - walk->sp >= bytes)
        return false;
    walk->ruby.next = walk->ruby.context[WIRE_RUBY_CONTEXT_FRAME / sizeof(u64)];
    walk->ruby.end = walk->ruby.context[WIRE_RUBY_CONTEXT_STACK / sizeof(u64)] +
                     walk->ruby.context[WIRE_RUBY_CONTEXT_SIZE / sizeof(u64)] * sizeof(u64);
    return is_address(walk->ruby.next);
}

__noinline int read_ruby_frames(struct stack_walk* walk) {
    struct wire_ruby_layout* layout;
    int more = 1;
    u32 number;

    if (!walk)
        return 0;
    number = walk->process.ruby_layout;
    layout = bpf_map_lookup_elem(&ruby_layouts, &number);
    if (!layout || !find_context(walk, layout))
        return 0;
    walk->ruby.has_chain = 1;
    walk->ruby.hops = WIRE_RUBY_HOPS_OF_WALK;
    for (u32 i = 0; i < FRAMES_OF_CHAIN / TURNS_AT_ONCE && more; i++)
        more = read_some_ruby_frames(walk, layout);
    if (more)
        walk->chain.stop = WIRE_STOP_DEPTH;
    return 0;
}
