// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// PHP's frames. Builds that are not thread-safe (Debian's, and nearly all that there are) have one
// chain of them in a process, executor_globals.current_execute_data, which its main thread runs.
// All that is read may be anything: it is the process's.
#include "php.h"
#include "frame_chain.h"
#include "kernel_types.h"
#include "maps.h"
#include "user_memory.h"

#include ARCH(registers.h)

/* By number. Written by user space, read by walks; full: PHP's functions are not shown, which is
 * said. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_PHP_LAYOUTS);
    __type(key, u32);
    __type(value, struct wire_php_layout);
} php_layouts SEC(".maps");

static __always_inline bool read_frame(struct stack_walk* walk, u64 frame) {
    return !bpf_probe_read_user(walk->php.words, WIRE_PHP_FRAME_BYTES, (void*)frame);
}

// Members of the frame that was read last.
static __always_inline u64 word_of_frame(const struct stack_walk* walk, u32 offset) {
    return walk->php.words[(offset & (PHP_FRAME_BYTES - 1)) / sizeof(u64)];
}

static __always_inline u32 flags_of_frame(const struct stack_walk* walk) {
    return (u32)word_of_frame(walk, WIRE_PHP_FRAME_FLAGS);
}

// One of PHP's own is smaller, and may be the last thing before memory that is not there.
static __always_inline bool read_function(struct stack_walk* walk, u64 function) {
    u64* to = walk->php.function;

    if (function >> USER_ADDRESS_BITS)
        return false;
    if (!bpf_probe_read_user(to, WIRE_PHP_FUNCTION_BYTES, (void*)function))
        return true;
    return !bpf_probe_read_user(to, WIRE_PHP_INTERNAL_BYTES, (void*)function) &&
           (u8)*to == WIRE_PHP_INTERNAL;
}

// Members of the function that was read last.
static __always_inline u64 word_of_function(const struct stack_walk* walk, u32 offset) {
    return walk->php.function[(offset & (PHP_FUNCTION_BYTES - 1)) / sizeof(u64)];
}

static __always_inline u32 half_of_function(const struct stack_walk* walk, u32 offset) {
    const u32* halves = (const void*)walk->php.function;

    return halves[(offset & (PHP_FUNCTION_BYTES - 1)) / sizeof(u32)];
}

static __always_inline bool is_user_function(const struct stack_walk* walk) {
    return wire_php_is_user((u8)word_of_function(walk, WIRE_PHP_FUNCTION_TYPE));
}

static __always_inline bool has_instruction(const struct stack_walk* walk,
                                            const struct wire_php_layout* layout, u64 address) {
    u64 offset = address - word_of_function(walk, layout->function_instructions);
    u64 count = half_of_function(walk, layout->function_count);

    return offset < count * WIRE_PHP_INSTRUCTION_BYTES && !(offset % WIRE_PHP_INSTRUCTION_BYTES);
}

// What a text is known by becomes walk->php.mark. 0: it could not be read.
__noinline int note_php_text(struct stack_walk* walk, u64 text) {
    u64 head[2] = {}, end[2] = {}; // hash and length; the last 16 bytes

    if (!walk)
        return 0;
    walk->php.mark = 0;
    if (!text)
        return 1;
    if (bpf_probe_read_user(head, sizeof(head), (void*)(text + WIRE_PHP_TEXT_HASH)))
        return 0;
    text += WIRE_PHP_TEXT_CHARACTERS + head[1] - sizeof(end);
    if (!head[0] && bpf_probe_read_user(end, sizeof(end), (void*)text))
        return 0;
    walk->php.mark = wire_php_mark(head[0], head[1], end[0], end[1]);
    return 1;
}

// The line of the frame of the function that was read last; 0: it is not known. While an exception
// is on its way a frame has an instruction that is not its function's.
static __always_inline u32 read_line(const struct stack_walk* walk,
                                     const struct wire_php_layout* layout, u64 saved) {
    u64 innermost = walk->php.instruction;
    u32 line = 0;

    if (has_instruction(walk, layout, innermost))
        saved = innermost;
    if (!has_instruction(walk, layout, saved) ||
        bpf_probe_read_user(&line, sizeof(line), (void*)(saved + WIRE_PHP_INSTRUCTION_LINE)) ||
        line > WIRE_PHP_MOST_LINE)
        return 0;
    return line;
}

// Adds the frame of the function that was read last. A text may be in memory that the process has
// not touched, and that only somebody who may wait can read (a child of a process whose names are
// shared, opcache's): then all texts are known by their addresses.
static __always_inline void add_read_function(struct stack_walk* walk,
                                              const struct wire_php_layout* layout, u64 function,
                                              u64 instruction, u64 previous) {
    u64 name = word_of_function(walk, WIRE_PHP_FUNCTION_NAME), file = 0, second = 0;
    u64 class = word_of_function(walk, WIRE_PHP_FUNCTION_SCOPE), scope = 0;
    u32 first_line = 0;
    int present;

    // Code of a file has no name; of the first one no other frame is the caller.
    if (!name && previous)
        second |= WIRE_PHP_INCLUDED;
    present = note_php_text(walk, name);
    name = walk->php.mark;
    if (is_user_function(walk)) {
        second |= (u64)read_line(walk, layout, instruction) << 32;
        first_line = half_of_function(walk, layout->function_line);
        present &= note_php_text(walk, word_of_function(walk, layout->function_file));
        file = walk->php.mark;
    }
    if (class) {
        present &= read_word(class + WIRE_PHP_CLASS_NAME, &scope) && note_php_text(walk, scope);
        scope = walk->php.mark;
    }
    if (!present) {
        name = word_of_function(walk, WIRE_PHP_FUNCTION_NAME);
        file = is_user_function(walk) ? word_of_function(walk, layout->function_file) : 0;
        scope = class;
    }
    second |= wire_php_cookie(first_line, scope, name, file);
    add_to_chain(walk, WIRE_FRAME_PHP | function, second);
}

static __always_inline void add_unreadable(struct stack_walk* walk) {
    add_to_chain(walk, WIRE_FRAME_PHP | WIRE_PHP_NO_FUNCTION, 0);
}

// In place of a placeholder that was read: the frame of the generator that it lies in, which waits
// in `yield from` for the one that is executed. False: it is another kind of placeholder.
static __always_inline bool read_delegating_frame(struct stack_walk* walk,
                                                  const struct wire_php_layout* layout,
                                                  u64 placeholder) {
    u64 generator = word_of_frame(walk, WIRE_PHP_FRAME_OBJECT), frame;

    return layout->generator_frame && placeholder - generator < WIRE_PHP_GENERATOR_BYTES &&
           read_word(generator + layout->generator_frame, &frame) && read_frame(walk, frame) &&
           word_of_frame(walk, WIRE_PHP_FRAME_FUNCTION);
}

// From walk->php.frame to its caller's. Whether to go on.
__noinline int read_php_frame(struct stack_walk* walk, const struct wire_php_layout* layout) {
    u64 frame, function, instruction, previous;
    bool is_entered, is_read;

    if (!walk || !layout)
        return 0;
    frame = walk->php.frame;
    if (!frame)
        return 0;
    if (!read_frame(walk, frame)) {
        add_unreadable(walk);
        return 0;
    }
    previous = word_of_frame(walk, WIRE_PHP_FRAME_PREVIOUS);
    walk->php.frame = previous;
    is_entered = flags_of_frame(walk) & WIRE_PHP_TOP;
    if (!word_of_frame(walk, WIRE_PHP_FRAME_FUNCTION)) {
        // A generator that waits is run by nobody.
        is_entered = false;
        if (!read_delegating_frame(walk, layout, frame))
            return 1;
    }
    function = word_of_frame(walk, WIRE_PHP_FRAME_FUNCTION);
    instruction = word_of_frame(walk, WIRE_PHP_FRAME_INSTRUCTION);
    is_read = read_function(walk, function);
    // A fiber begins with one of PHP's own that has no name, and is nothing to PHP either.
    if (is_read && !is_user_function(walk) && !word_of_function(walk, WIRE_PHP_FUNCTION_NAME))
        return 1;
    if (is_read)
        add_read_function(walk, layout, function, instruction, previous);
    else
        add_unreadable(walk);
    walk->php.instruction = 0;
    // C calls PHP's own functions without execute_ex().
    if (is_entered && (!is_read || is_user_function(walk)))
        add_to_chain(walk, WIRE_FRAME_PHP, 0);
    return 1;
}

__noinline int read_some_php_frames(struct stack_walk* walk, const struct wire_php_layout* layout) {
    int more = 1;

    for (u32 i = 0; i < TURNS_AT_ONCE && more; i++)
        more = read_php_frame(walk, layout);
    return more;
}

// GCC's builds have the innermost frame and its instruction in registers, and save the instruction
// only where somebody may ask for it: a third of samples would have the line of one long before.
// They are believed where they are what memory says: the frame is the one that is innermost there,
// or one that it calls or has just called; and the instruction is of its function (read_line()).
__noinline int begin_at_php_registers(struct stack_walk* walk,
                                      const struct wire_php_layout* layout) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    u64 frame = php_frame_register(regs), instruction = php_instruction_register(regs);
    u64 function;

    if (!walk || !layout)
        return 0;
    walk->php.instruction = 0;
    if (frame != walk->php.frame) {
        if (!frame || !read_frame(walk, frame) ||
            word_of_frame(walk, WIRE_PHP_FRAME_PREVIOUS) != walk->php.frame)
            return 0;
        function = word_of_frame(walk, WIRE_PHP_FRAME_FUNCTION);
        if (!function || !read_function(walk, function) || !is_user_function(walk) ||
            !has_instruction(walk, layout, instruction))
            return 0;
        walk->php.frame = frame;
    }
    walk->php.instruction = instruction;
    return 0;
}

// Other threads may do other things for the process; if another one than the main thread runs PHP,
// where that goes on at an error (EG(bailout)) does not lie on this stack.
static __always_inline bool is_php_thread(const struct stack_walk* walk) {
    u64 pid_tid = bpf_get_current_pid_tgid(), bailout;

    return (u32)pid_tid == pid_tid >> 32 &&
           read_word(walk->process.php + WIRE_PHP_GLOBALS_BAILOUT, &bailout) && bailout > walk->sp;
}

__noinline int read_php_frames(struct stack_walk* walk) {
    struct wire_php_layout* layout;
    int more = 1;
    u32 number;

    if (!walk)
        return 0;
    number = walk->process.php_layout;
    layout = bpf_map_lookup_elem(&php_layouts, &number);
    if (!layout || !is_php_thread(walk) ||
        !read_word(walk->process.php + layout->globals_frame, &walk->php.frame))
        return 0;
    look_for_loop(walk, &layout->loop, walk->process.php);
    begin_at_php_registers(walk, layout);
    for (u32 i = 0; i < FRAMES_OF_CHAIN / TURNS_AT_ONCE && more; i++)
        more = read_some_php_frames(walk, layout);
    walk->chain.stop = more ? WIRE_STOP_DEPTH : 0;
    return 0;
}
