// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// From a frame of HotSpot's to its caller. Compiled code uses the frame pointer as any other
// register, so the code's block says how large its frame is; where that is being made or left, the
// instructions tell. Of the walk alone.
#ifndef AUGER_ARCH_WALK_HOTSPOT_H
#define AUGER_ARCH_WALK_HOTSPOT_H

#include "hotspot_code.h"

#include ARCH(walk_code.h)

enum { HOTSPOT_BYTECODE_REGISTER = 13 }; /* has the address of the bytecode that is executed */

/* What is where in an interpreter's frame, from its frame pointer. */
enum {
    FRAME_BYTECODE = -64, /* address of the bytecode, while the method is calling */
    FRAME_METHOD = -24,   /* address of the Method */
    FRAME_LAST_SP = -16,  /* the stack pointer with which it has called another method */
    FRAME_SENDER_SP = -8, /* the caller's stack pointer, before room was made for arguments */
    FRAME_RETURN = 8,
};

// Whether the interpreter is at one of the instructions by which it goes on with a method whose
// callee has returned. What it had in its stack pointer is, from JDK 22 on, a number of words.
static __always_inline bool is_back_in_interpreter(u64 address) {
    enum {
        LOAD_LAST_SP = 0xf0658b48,   /* mov -16(%rbp),%rsp */
        LOAD_LAST_WORD = 0xf04d8b48, /* mov -16(%rbp),%rcx */
        SET_LAST_SP = 0xcd648d48,    /* lea (%rbp,%rcx,8),%rsp */
        CLEAR_LAST_SP = 0xf045c748,  /* movq $0,-16(%rbp) */
        LOAD_BYTECODE = 0xc06d8b4c,  /* mov -64(%rbp),%r13 */
    };
    u64 code = 0; /* with the four bytes before */
    u32 at;

    if (!read_user_word(address - sizeof(at), &code))
        return false;
    at = code >> 32;
    return at == LOAD_LAST_SP || at == LOAD_LAST_WORD || at == CLEAR_LAST_SP ||
           at == LOAD_BYTECODE || (at == SET_LAST_SP && (u32)code == LOAD_LAST_WORD);
}

// Whether a stack pointer is that with which the method at hand calls another one. From JDK 22 on
// the frame has it as a number of words from its frame pointer.
static __always_inline bool is_last_sp(struct stack_walk* walk, u64 sp) {
    u64 last;

    return read_stack_word(walk, walk->bp + FRAME_LAST_SP, &last) &&
           (last == sp || walk->bp + last * sizeof(u64) == sp);
}

// Whether the register of the bytecode has something else, since the method at hand calls another
// one; the bytecode is in the frame then. What it calls is known by flags of 32 bits (which a
// bytecode's address may have, too, where methods come out of an archive); then comes the stack
// pointer (where it is another's, compiled code has called, and the frame is that of an outer
// caller); and when the other one has left its frame, where that returns to.
static __always_inline bool is_calling(struct stack_walk* walk, const struct wire_hotspot* layout,
                                       u64 method, u64 in_register) {
    const u64 most_bytecode = 0xffff;
    u64 const_method = 0;

    if (!(in_register >> 32)) {
        read_user_word(method + layout->method_const, &const_method);
        return in_register - const_method - layout->const_bytecode > most_bytecode;
    }
    return is_last_sp(walk, in_register) ||
           in_register - layout->interpreter < layout->interpreter_size;
}

// To the caller of the interpreter's frame. The one that was interrupted need not have its frame
// yet, or any more: then the register of the bytecode has something else.
static __always_inline u32 step_from_interpreter(struct stack_walk* walk,
                                                 const struct wire_hotspot* layout) {
    u64 method, bytecode, caller_bp, return_address, sp;

    walk->noted.first = WIRE_FRAME_HOTSPOT_BYTECODE;
    walk->noted.second = 0;
    // From lower to higher addresses, as windows move.
    if (walk->bp & 7 || walk->bp < walk->sp ||
        !read_stack_word(walk, walk->bp + FRAME_BYTECODE, &bytecode) ||
        !read_stack_word(walk, walk->bp + FRAME_METHOD, &method) ||
        !read_stack_word(walk, walk->bp + FRAME_SENDER_SP, &sp) ||
        !read_stack_word(walk, walk->bp, &caller_bp) ||
        !read_stack_word(walk, walk->bp + FRAME_RETURN, &return_address))
        return WIRE_STOP_NO_TABLE;
    if (walk->exact) {
        u64 in_register;

        if (!read_register(walk, HOTSPOT_BYTECODE_REGISTER, &in_register))
            return WIRE_STOP_NO_TABLE;
        // When it is back, the bytecode is in the frame until it has been read.
        if (!is_calling(walk, layout, method, in_register) && !is_back_in_interpreter(walk->ip))
            bytecode = in_register;
    }
    if (!note_hotspot_bytecode(walk, layout, method, bytecode, !walk->exact))
        return WIRE_STOP_NO_TABLE;
    walk->slot = walk->bp + sizeof(u64);
    walk->bp = caller_bp;
    walk->bx_state = WIRE_RBX_LOST;
    return enter_caller(walk, return_address, sp);
}

/* What a compiled method has put on the stack. */
enum hotspot_frame {
    HOTSPOT_NOTHING,    /* the return address is at the stack pointer */
    HOTSPOT_PUSHED_RBP, /* ... and the caller's rbp before it */
    HOTSPOT_RESERVED,   /* all of the frame is there, but for the caller's rbp */
    HOTSPOT_WHOLE,
};

// Whether a method is at the instructions by which it asks the collector whether it may begin: its
// frame is there, though its block says that it is not (from JDK 20 on, of some collectors before):
//     cmpl $GUARD,DISARMED(%r15); jne ...               or je +5; call BARRIER
static __always_inline bool is_at_entry_barrier(u64 code, u64 before) {
    enum { COMPARE_GUARD = 0x7f8141, MASK = 0xffffff, JUMP_OVER_CALL = 0x0574, CALL = 0xe8 };

    return (code & MASK) == COMPARE_GUARD || (before & MASK) == COMPARE_GUARD ||
           ((u8)code == CALL && before >> 48 == JUMP_OVER_CALL);
}

// Of the method that was interrupted, whose block says that its frame is not complete.
static __always_inline u32 hotspot_frame_before(u64 code, u64 before) {
    enum { PUSH_RBP = 0x55, MASK = 0xffffff };
    enum { SAVE_RBP = 0x246c8948, SAVE_RBP_FAR = 0x24ac8948 }; /* mov %rbp,SIZE-8(%rsp) */

    if (is_at_entry_barrier(code, before) || (u32)(before >> 24) == SAVE_RBP ||
        (u32)before == SAVE_RBP_FAR)
        return HOTSPOT_WHOLE;
    if (before >> 56 == PUSH_RBP || before >> 40 == 0xec8b48)
        return HOTSPOT_PUSHED_RBP;
    // sub $SIZE,%rsp with a byte, or with four.
    if ((before >> 32 & MASK) == 0xec8348 || (before >> 8 & MASK) == 0xec8148)
        return HOTSPOT_RESERVED;
    return HOTSPOT_NOTHING;
}

// ... whose frame may be gone again. Displacements from %r15 have a byte, or four: the polled
// word's has one since JDK 25.
static __always_inline bool has_left_hotspot_frame(u64 code, u64 before) {
    enum { RET = 0xc3, JUMP = 0xe9, LEAVE = 0xc9, POP_RBP = 0x5d, MASK = 0xffffff };
    enum { COMPARE_POLL = 0x673b49, COMPARE_POLL_FAR = 0xa73b49, JUMP_ABOVE = 0x870f };
    enum { TEST_POLL = 0x47f641, JUMP_EQUAL = 0x74 };
    // With a number of one byte, and of four (until JDK 20).
    enum { COMPARE_EXCEPTION = 0x7f8349, COMPARE_EXCEPTION_FOUR = 0x7f8149, JUMP_UNEQUAL = 0x850f };
    u8 last = before >> 56;

    switch (code & MASK) {
    case COMPARE_POLL:
    case COMPARE_POLL_FAR:
        return true;
    case TEST_POLL:
        return last == LEAVE;
    case COMPARE_EXCEPTION:
    case COMPARE_EXCEPTION_FOUR:
        return last == LEAVE || (u8)(before >> 24) == JUMP;
    }
    if ((u8)code == RET || ((u8)code == JUMP && last == POP_RBP))
        return true;
    if ((u16)code == JUMP_ABOVE)
        return (before >> 32 & MASK) == COMPARE_POLL || (before >> 8 & MASK) == COMPARE_POLL_FAR;
    if ((u16)code == JUMP_UNEQUAL)
        return (before >> 24 & MASK) == COMPARE_EXCEPTION ||
               (before & MASK) == COMPARE_EXCEPTION_FOUR;
    return (u8)code == JUMP_EQUAL && (before >> 24 & MASK) == TEST_POLL;
}

// Of the method that was interrupted, whose frame is or is not complete by what its block says. Its
// code is one of these; the return address may be on the stack before, and is behind:
//     push %rbp; [mov %rsp,%rbp;] sub $SIZE,%rsp      sub $SIZE,%rsp; mov %rbp,SIZE-8(%rsp)
//     add $SIZE,%rsp; pop %rbp; cmp POLL(%r15),%rsp; ja ...; ret
//     leave; [testb $1,POLL(%r15); je ...; ... jmp ...;] cmpq $0,EXCEPTION(%r15); jne ...; ret
__noinline int hotspot_frame_at(u64 address, bool is_complete) {
    enum { POP_RBP = 0x5d };
    u64 code = 0, before = 0;

    if (!read_user_word(address, &code) || !read_user_word(address - sizeof(before), &before))
        return HOTSPOT_WHOLE;
    if (!is_complete)
        return hotspot_frame_before(code, before);
    if ((u8)code == POP_RBP)
        return HOTSPOT_PUSHED_RBP;
    return has_left_hotspot_frame(code, before) ? HOTSPOT_NOTHING : HOTSPOT_WHOLE;
}

// Whether the outermost frame of a virtual thread that is on the stack returns to an address: to a
// barrier, which brings its callers back from the heap. It takes the stack pointer of what has
// mounted the thread: mov ENTRY(%r15),%rsp.
__noinline int is_return_barrier(u64 address) {
    enum { LOAD_SP = 0x678b49, LOAD_SP_FAR = 0xa78b49, MASK = 0xffffff };
    u64 code = 0;

    return read_user_word(address, &code) &&
           ((code & MASK) == LOAD_SP_FAR || (code & MASK) == LOAD_SP);
}

// Whether HotSpot's code may return to an address. The interpreter jumps to what it calls.
static __always_inline bool is_hotspot_return(const struct wire_hotspot* layout, u64 address) {
    return address - layout->interpreter < layout->interpreter_size || is_behind_call(address) ||
           is_return_barrier(address);
}

// To the caller of code whose frame ends at `cfa`, where its return address is. `frame`: an enum
// hotspot_frame.
static __always_inline u32 leave_hotspot_frame(struct stack_walk* walk,
                                               const struct wire_hotspot* layout, u32 frame,
                                               u64 cfa) {
    u64 return_address, bp = walk->bp;

    if ((frame == HOTSPOT_WHOLE || frame == HOTSPOT_PUSHED_RBP) &&
        !read_stack_word(walk, cfa - 2 * sizeof(u64), &bp))
        return WIRE_STOP_UNREADABLE;
    if (!read_stack_word(walk, cfa - sizeof(u64), &return_address))
        return WIRE_STOP_UNREADABLE;
    // What instructions look like is not proof.
    if (walk->exact && !is_hotspot_return(layout, return_address))
        return WIRE_STOP_NO_TABLE;
    walk->slot = cfa - sizeof(u64);
    walk->bp = bp;
    walk->bx_state = WIRE_RBX_LOST;
    return enter_caller(walk, return_address, cfa);
}

// Where the frame of code that calls a native function ends. Most of that aligns the stack pointer,
// or puts more there, and has a frame pointer. What mounts a virtual thread (enterSpecial) has none
// that its callees keep: they may have come from the heap.
static __always_inline u64 end_of_native_frame(struct stack_walk* walk,
                                               const struct wire_hotspot* layout, u64 cfa) {
    u64 return_address;

    if (!(cfa & 7) && cfa > walk->sp && read_stack_word(walk, cfa - sizeof(u64), &return_address) &&
        is_hotspot_return(layout, return_address))
        return cfa;
    return walk->bp + 2 * sizeof(u64);
}

// A method's compiled code, in the block that was found.
static __always_inline u32 step_from_nmethod(struct stack_walk* walk,
                                             const struct wire_hotspot* layout) {
    u64 size, ip, original_pc, cfa;
    u32 frame = HOTSPOT_WHOLE;
    bool is_native, is_complete;

    ip = walk->ip;
    size = (u64)block_half(walk, layout->block_frame_size) * sizeof(u64);
    // The method goes on in the interpreter as soon as what it has called returns. Until then it is
    // where it was.
    if (!walk->exact && (ip == block_address(walk, &layout->block_deopt_handler) ||
                         ip == block_address(walk, &layout->block_deopt_mh_handler))) {
        if (!read_stack_word(walk, walk->sp + block_half(walk, layout->block_original_pc),
                             &original_pc))
            return WIRE_STOP_UNREADABLE;
        ip = original_pc;
    }
    note_hotspot_code(walk, layout, ip);
    is_native = block_half(walk, layout->block_pcs) == block_half(walk, layout->block_pcs_end);
    cfa = walk->sp + size;
    if (walk->exact) {
        is_complete = (s64)(ip - block_address(walk, &layout->block_code)) >=
                      block_number(walk, &layout->block_frame_complete);
        frame = hotspot_frame_at(ip, is_complete);
        // Its frame pointer is set before there is room for more.
        if (is_native && frame == HOTSPOT_RESERVED)
            frame = HOTSPOT_WHOLE;
        // Intrinsics of method handles.
        if (!size)
            frame = HOTSPOT_NOTHING;
        if (frame == HOTSPOT_NOTHING)
            cfa = walk->sp + sizeof(u64);
        else if (frame == HOTSPOT_PUSHED_RBP)
            cfa = walk->sp + 2 * sizeof(u64);
    }
    if (is_native && frame == HOTSPOT_WHOLE)
        cfa = end_of_native_frame(walk, layout, cfa);
    if (cfa & 7 || cfa <= walk->sp)
        return WIRE_STOP_NO_TABLE;
    return leave_hotspot_frame(walk, layout, frame, cfa);
}

// From a frame in a mapping of HotSpot's code. Returns why the walk ends here, WIRE_STOPS, or
// STEP_WITHOUT_RULE: step_without_rule() is to be tried.
enum { STEP_WITHOUT_RULE = WIRE_STOPS + 1 };
__noinline int step_through_hotspot(struct stack_walk* walk) {
    struct wire_hotspot* layout;
    u32 number, frame = HOTSPOT_WHOLE;
    u64 size;

    if (!walk)
        return WIRE_STOP_END;
    number = walk->process.hotspot - 1; /* of none, it is out of bounds */
    layout = bpf_map_lookup_elem(&hotspot_processes, &number);
    if (!layout)
        return WIRE_STOP_NO_TABLE;
    if (is_interpreter(walk, layout))
        return step_from_interpreter(walk, layout);
    // By frame pointers compiled frames would be left out.
    if (!find_hotspot_block(walk, layout))
        return WIRE_STOP_NO_TABLE;
    if (is_nmethod(walk, layout))
        return step_from_nmethod(walk, layout);
    // The return barrier of a virtual thread, or where one goes on that has left its monitor's
    // queue. They are called by nobody, and no frames: those follow in the heap.
    if (!walk->exact && !is_behind_call(walk->ip)) {
        walk->count--;
        return WIRE_STOP_IN_HEAP;
    }
    note_hotspot_code(walk, layout, walk->ip);
    // Stubs that call have frames whose size is known; others do it as they like.
    size = (u64)block_half(walk, layout->block_frame_size) * sizeof(u64);
    if (walk->exact) {
        // An adapter between the interpreter and compiled code has none, and its caller's frame
        // pointer: by that the caller would be left out, as no call is before a return address in
        // the interpreter.
        if (!read_stack_word(walk, walk->sp, walk->hotspot.words) ||
            walk->hotspot.words[0] - layout->interpreter >= layout->interpreter_size)
            return STEP_WITHOUT_RULE;
        frame = HOTSPOT_NOTHING;
        size = sizeof(u64);
    } else if (size < 2 * sizeof(u64)) {
        return STEP_WITHOUT_RULE;
    }
    return leave_hotspot_frame(walk, layout, frame, walk->sp + size);
}

#endif
