// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// CPython's frames of the current thread. One native frame of the interpreter's loop executes many
// of them; that it does is known by what the loop keeps in its native frame, the boundary: see
// wire_python_boundary. All that is read may be anything: it is the process's.
#include "python.h"
#include "frame_chain.h"
#include "kernel_types.h"
#include "maps.h"

#include ARCH(registers.h)

#include "python_task.h"

struct python_layouts_map python_layouts SEC(".maps");

/* Small, since a walk makes one on its stack: all programs of a chain of calls have 512 bytes
 * together on Linux 6.1. */
struct python_thread {
    u32 runtime; /* of the process, the lower half: threads' numbers are used again */
    u32 jiffies; /* likewise */
    u64 state;   /* address of the thread state; 0: the thread had none at `jiffies` */
    u64 newest;  /* the address of the newest state of all then; 0: not to be relied on */
    /* Not 0: the search for it, of which one walk does WIRE_PYTHON_THREADS at the most, goes on in
     * this interpreter with `state`. */
    u64 interpreter;
};

/* By thread. Written and read by walks and the call tracker; what falls out of it is looked for
 * again. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 8192);
    __type(key, u32);
    __type(value, struct python_thread);
} python_threads SEC(".maps");

enum {
    /* Of a chain that is full, that are gone through to its boundary: all that Python allows where
     * nobody asks for more (sys.setrecursionlimit()). An interrupt does this. */
    FRAMES_BEYOND = 1024,
    SEARCH_AGAIN_JIFFIES = 25, /* 25 to 250 ms, by the kernel's configuration */
};

// Reads a thread's state, and goes to its innermost frame; walk->python.frame is 0 if there is
// none.
static __always_inline bool read_thread(struct stack_walk* walk,
                                        const struct wire_python_layout* layout, u64 state) {
    walk->python.frame = 0;
    if (!state || bpf_probe_read_user(walk->python.words, WIRE_PYTHON_THREAD_BYTES, (void*)state))
        return false;
    walk->python.frame = word_of(walk, layout->thread_frame);
    if (layout->has_cframe) {
        walk->python.cframe = walk->python.frame;
        if (!read_word(walk->python.cframe + layout->cframe_frame, &walk->python.frame))
            walk->python.frame = 0;
    }
    return true;
}

static __always_inline bool is_current_thread(struct stack_walk* walk,
                                              const struct wire_python_layout* layout) {
    return walk->python.frame && word_of(walk, layout->thread_id) == walk->python.thread_pointer;
}

// Whether the state may be this thread's, when it begins. Until then it has no id (since 3.12), or
// no frame and the id of the thread that made it. That of a thread which is attached and executes
// no Python has none for ever.
static __always_inline bool is_nascent(struct stack_walk* walk,
                                       const struct wire_python_layout* layout) {
    u64 id = word_of(walk, layout->thread_id);

    if (layout->version >= WIRE_PYTHON_3_12)
        return !id || id == walk->python.thread_pointer;
    return !id || !walk->python.frame;
}

// Looks at one more thread of the list. Whether to go on.
__noinline int look_at_python_thread(struct stack_walk* walk,
                                     const struct wire_python_layout* layout) {
    if (!walk || !layout)
        return 0;
    if (!walk->python.thread) {
        if (!read_word(walk->python.interpreter + layout->interpreter_next,
                       &walk->python.interpreter) ||
            !walk->python.interpreter)
            return 0;
        return read_word(walk->python.interpreter + layout->interpreter_threads,
                         &walk->python.thread);
    }
    if (!read_thread(walk, layout, walk->python.thread)) {
        // Who is behind it nobody knows for now.
        walk->python.nascent = 1;
        walk->python.thread = 0;
        return 1;
    }
    if (is_current_thread(walk, layout))
        return 0;
    if (is_nascent(walk, layout))
        walk->python.nascent = 1;
    walk->python.thread = word_of(walk, layout->thread_next);
    return 1;
}

// From the newest state of the first interpreter on.
static __always_inline bool begin_search(struct stack_walk* walk,
                                         const struct wire_python_layout* layout) {
    walk->python.nascent = 0;
    walk->python.thread = 0;
    return read_word(walk->process.python + layout->runtime_interpreters,
                     &walk->python.interpreter) &&
           walk->python.interpreter &&
           read_word(walk->python.interpreter + layout->interpreter_threads, &walk->python.thread);
}

__noinline int look_at_python_threads(struct stack_walk* walk,
                                      const struct wire_python_layout* layout) {
    int more = 1;

    for (u32 i = 0; i < TURNS_AT_ONCE && more; i++)
        more = look_at_python_thread(walk, layout);
    return more;
}

// Goes on to the state of the current thread, in all interpreters of its process;
// walk->python.thread is 0 when it has none with frames. Whether the search is over.
static __always_inline bool search_thread(struct stack_walk* walk,
                                          const struct wire_python_layout* layout) {
    int more = 1;

    for (u32 i = 0; i < WIRE_PYTHON_THREADS / TURNS_AT_ONCE && more; i++)
        more = look_at_python_threads(walk, layout);
    return !more;
}

// Goes to the current thread's innermost frame. False: it has none, or none that is known yet. That
// it has no state is remembered until there is a newer one, or one that may become its own. A
// thread's state is made before the thread.
__noinline int find_python_thread(struct stack_walk* walk,
                                  const struct wire_python_layout* layout) {
    u32 tid = (u32)bpf_get_current_pid_tgid();
    struct python_thread* known = bpf_map_lookup_elem(&python_threads, &tid);
    struct python_thread found = {.jiffies = bpf_jiffies64()};

    if (!walk || !layout)
        return 0;
    found.runtime = walk->process.python;
    if (known && known->runtime != found.runtime)
        known = NULL;
    if (known && known->interpreter) {
        // States may have died meanwhile. What is read in place of them is not this thread's.
        walk->python.nascent = 0;
        walk->python.interpreter = known->interpreter;
        walk->python.thread = known->state;
        found.newest = known->newest;
    } else {
        if (known && read_thread(walk, layout, known->state) && is_current_thread(walk, layout))
            return 1;
        if (!begin_search(walk, layout))
            return 0;
        found.newest = walk->python.thread;
        if (known && known->newest && known->newest == found.newest &&
            found.jiffies - known->jiffies < SEARCH_AGAIN_JIFFIES)
            return 0;
    }
    if (!search_thread(walk, layout)) {
        found.interpreter = walk->python.interpreter;
        walk->chain.stop = WIRE_STOP_UNREADABLE;
    }
    found.state = walk->python.thread;
    if (walk->python.nascent || (found.state && !found.interpreter))
        found.newest = 0;
    bpf_map_update_elem(&python_threads, &tid, &found, BPF_ANY);
    return !found.interpreter && found.state;
}

static __always_inline void add_pair(struct stack_walk* walk, u64 first, u64 second) {
    add_to_chain(walk, WIRE_FRAME_PYTHON | first, second);
}

// Of the frame that was read last: where in its code object it is (bytes). Before its first
// instruction, and where its words are no frame's, more than there can be.
static __always_inline u64 offset_of_frame(const struct stack_walk* walk,
                                           const struct wire_python_layout* layout, u64 code) {
    if (layout->instruction_unit)
        return (s64)(int)half_of(walk, layout->frame_instruction) * layout->instruction_unit;
    return word_of(walk, layout->frame_instruction) - code - layout->code_instructions;
}

// What a code object is known by; it is what was read last. False: its page is not there.
static __always_inline bool read_code(struct stack_walk* walk,
                                      const struct wire_python_layout* layout, u64 code) {
    walk->python.cookie = WIRE_PYTHON_UNREAD;
    if (bpf_probe_read_user(walk->python.words, WIRE_PYTHON_CODE_BYTES, (void*)code))
        return false;
    walk->python.cookie =
        wire_python_cookie(half_of(walk, layout->code_line), word_of(walk, layout->code_file),
                           word_of(walk, layout->code_name), word_of(walk, layout->code_lines),
                           layout->code_version ? half_of(walk, layout->code_version) : 0);
    return true;
}

// The frame that calls __init__() for a class, since 3.13, is none that Python shows: no code that
// was compiled has one text for its file and its name, and no line.
static __always_inline bool is_trampoline(const struct stack_walk* walk,
                                          const struct wire_python_layout* layout) {
    return walk->python.cookie != WIRE_PYTHON_UNREAD && !half_of(walk, layout->code_line) &&
           word_of(walk, layout->code_file) == word_of(walk, layout->code_name);
}

static __always_inline bool wants_task(const struct stack_walk* walk) {
    return config.with_tasks || walk->python.wants_task;
}

// Behind the frames of the task: its function and its address, where stacks are to have them. There
// is one task in a stack.
__noinline int add_task(struct stack_walk* walk) {
    if (!walk || walk->python.has_task)
        return 0;
    walk->python.has_task = 1;
    if (!config.with_tasks)
        return 0;
    add_pair(walk, walk->python.coroutine_code,
             (u64)WIRE_PYTHON_TASK_FUNCTION << 32 | walk->python.coroutine_cookie);
    add_pair(walk, walk->python.coroutine, (u64)WIRE_PYTHON_TASK_ADDRESS << 32);
    return 0;
}

// Where no frame is further out, before the boundary: what is behind the last one has no place.
static __always_inline void end_chain_of_task(struct stack_walk* walk) {
    if (wants_task(walk) && !walk->python.frame && walk->python.coroutine)
        add_task(walk);
}

// Behind read_code() of a coroutine's frame.
static __always_inline void note_coroutine(struct stack_walk* walk, u64 coroutine, u64 code) {
    walk->python.coroutine = coroutine;
    walk->python.coroutine_code = code;
    walk->python.coroutine_cookie = walk->python.cookie;
}

// From walk->python.frame to its caller's. Whether to go on.
__noinline int read_python_frame(struct stack_walk* walk, const struct wire_python_layout* layout) {
    u64 frame, code, offset, generator;
    bool ends, is_read;
    u8 owner, kind;

    if (!walk || !layout)
        return 0;
    frame = walk->python.frame;
    if (!frame)
        return 0;
    if (!read_frame_words(walk, layout, frame)) {
        walk->chain.stop = WIRE_STOP_UNREADABLE;
        return 0;
    }
    walk->python.frame = word_of(walk, layout->frame_previous);
    code = word_of(walk, layout->frame_code) & ~7ull;
    offset = offset_of_frame(walk, layout, code);
    owner = byte_of(walk, layout->frame_owner);
    kind = kind_of_frame(walk, layout);
    generator = generator_of(walk, layout, frame);
    if (layout->boundary == WIRE_PYTHON_SHIM && owner >= WIRE_PYTHON_SHIM_OWNER) {
        end_chain_of_task(walk);
        add_pair(walk, 0, frame);
        return 1;
    }
    if (wants_task(walk) && ends_task(&walk->python, kind))
        add_task(walk);
    if (!code || code >> USER_ADDRESS_BITS) {
        walk->chain.stop = WIRE_STOP_UNREADABLE;
        return 0;
    }
    is_read = read_code(walk, layout, code);
    if (is_trampoline(walk, layout))
        return 1;
    if (offset > WIRE_PYTHON_MOST_OFFSET)
        offset = WIRE_PYTHON_NO_OFFSET;
    add_pair(walk, code, offset << 32 | walk->python.cookie);
    walk->python.outermost = frame;
    if (is_read && wants_task(walk) && !walk->python.has_task &&
        is_coroutine(kind, half_of(walk, layout->code_flags)))
        note_coroutine(walk, generator, code);
    end_chain_of_task(walk);
    ends = layout->boundary == WIRE_PYTHON_CFRAME && owner;
    if (!ends)
        return 1;
    add_pair(walk, 0, walk->python.cframe);
    return read_word(walk->python.cframe + layout->cframe_previous, &walk->python.cframe);
}

// Of a chain that is full, likewise; the boundary takes the place of what was last in it.
__noinline int pass_python_frame(struct stack_walk* walk, const struct wire_python_layout* layout) {
    u64 frame, *pair;
    bool is_shim;
    u8 owner;

    if (!walk || !layout)
        return 0;
    frame = walk->python.frame;
    pair = pair_of_chain(walk, FRAMES_OF_CHAIN - 1);
    if (*pair == WIRE_FRAME_PYTHON || !frame || !read_frame_words(walk, layout, frame))
        return 0;
    walk->python.frame = word_of(walk, layout->frame_previous);
    owner = byte_of(walk, layout->frame_owner);
    is_shim = layout->boundary == WIRE_PYTHON_SHIM;
    if (!is_shim || owner < WIRE_PYTHON_SHIM_OWNER)
        walk->python.outermost = frame;
    if (is_shim ? owner < WIRE_PYTHON_SHIM_OWNER : !owner)
        return 1;
    pair[0] = WIRE_FRAME_PYTHON;
    pair[1] = is_shim ? frame : walk->python.cframe;
    return 0;
}

__noinline int read_some_python_frames(struct stack_walk* walk,
                                       const struct wire_python_layout* layout) {
    int more = 1;

    for (u32 i = 0; i < TURNS_AT_ONCE && more; i++)
        more = read_python_frame(walk, layout);
    return more;
}

__noinline int pass_some_python_frames(struct stack_walk* walk,
                                       const struct wire_python_layout* layout) {
    int more = 1;

    for (u32 i = 0; i < TURNS_AT_ONCE && more; i++)
        more = pass_python_frame(walk, layout);
    return more;
}

// Looks for a boundary at some places of the chain. Whether to go on.
__noinline int look_for_python_boundary(struct stack_walk* walk, u32 from) {
    if (!walk)
        return 0;
    for (u32 i = 0; i < TURNS_AT_ONCE; i++) {
        u32 at = from + i;
        const u64* pair = pair_of_chain(walk, at);

        if (at >= walk->chain.count)
            return 0;
        if (pair[0] == WIRE_FRAME_PYTHON) {
            walk->python.boundary = pair[1];
            return 0;
        }
    }
    return 1;
}

// Finds the next boundary from walk->chain.placed on; 0: there is none.
__noinline int find_python_boundary(struct stack_walk* walk) {
    int more = 1;

    if (!walk)
        return 0;
    walk->python.boundary = 0;
    for (u32 i = 0; i < FRAMES_OF_CHAIN / TURNS_AT_ONCE && more; i++)
        more = look_for_python_boundary(walk, walk->chain.placed + i * TURNS_AT_ONCE);
    return 0;
}

__noinline int read_python_frames(struct stack_walk* walk) {
    struct wire_python_layout* layout;
    int more = 1;

    if (!walk)
        return 0;
    layout = layout_of(walk);
    if (!layout)
        return 0;
    walk->python.thread_pointer = bpf_get_current_task_btf()->THREAD_POINTER;
    if (!find_python_thread(walk, layout))
        return 0;
    for (u32 i = 0; i < FRAMES_OF_CHAIN / TURNS_AT_ONCE && more; i++)
        more = read_some_python_frames(walk, layout);
    if (layout->boundary == WIRE_PYTHON_EACH) {
        walk->chain.each = 1;
        if (walk->python.frame && !walk->chain.stop)
            walk->chain.stop = WIRE_STOP_DEPTH;
        look_for_loop(walk, &layout->loop, walk->process.python);
        return 0;
    }
    if (walk->chain.count == FRAMES_OF_CHAIN && !walk->chain.stop) {
        more = 1;
        for (u32 i = 0; i < FRAMES_BEYOND / TURNS_AT_ONCE && more; i++)
            more = pass_some_python_frames(walk, layout);
        if (more)
            walk->chain.stop = WIRE_STOP_DEPTH;
    }
    return find_python_boundary(walk);
}

__noinline int place_python_frames(struct stack_walk* walk) {
    if (!walk)
        return 0;
    place_chain_frames(walk);
    return find_python_boundary(walk);
}
