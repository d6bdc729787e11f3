// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Walks user stacks: frame by frame by the tables that user space has made of call frame
// information, and by frame pointers where code has none. What cannot be proven is not guessed: the
// stack ends there and says why. Each step is a function of its own, so that the verifier looks at
// it once and not at every turn of the loop.
#include "unwind.h"

struct unwind_block {
    u64 cells[WIRE_UNWIND_BLOCK_CELLS];
};

/* Made by user space, each as it is needed, and written by it; read by walks. */
struct unwind_shard {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_UNWIND_SHARD_BLOCKS);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(key_size, sizeof(u32));
    __uint(value_size, sizeof(struct unwind_block));
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, WIRE_UNWIND_SHARDS);
    __type(key, u32);
    __array(values, struct unwind_shard);
} unwind_cells SEC(".maps");

/* By number. Written by user space, read by walks. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_UNWIND_TABLES);
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, u32);
    __type(value, struct wire_unwind_table);
} unwind_tables SEC(".maps");

enum {
    MAX_RETURN_INSTANCES = 64, /* the kernel's own limit */
    LOG2_MAPPINGS = 17,
    CELLS_OF_MAPPING = sizeof(struct wire_unwind_mapping) / sizeof(u64),
    CELLS_OF_RULE = sizeof(struct wire_unwind_rule) / sizeof(u64),
    LOG2_ROWS_OF_PAGE = WIRE_UNWIND_PAGE_BITS + 1,
    DWARF_RBX = 3,
    DWARF_RBP = 6,
    DWARF_RSP = 7,
    /* Of the ucontext that the kernel leaves for a signal's handler: rbp, rbx, rsp and rip. */
    UCONTEXT_RBP = 120,
    UCONTEXT_RBX = 128,
    UCONTEXT_RSP = 160,
    UCONTEXT_RIP = 168,
    USER_ADDRESS_BITS = 56, /* with five levels of page tables */
    EXECVE = 59,            /* numbers of system calls */
    EXECVEAT = 322,
    COMPAT_CS = 0x23, /* code segment of 32-bit programs */
    /* 50 to 500 ms, by the kernel's configuration; for WIRE_UNWIND_REST_NS nothing that a walk may
     * be reading is written again. */
    MAX_WALK_JIFFIES = 50,
};

static __always_inline struct unwind_block* block_of(u32 cell) {
    u32 shard = cell >> WIRE_UNWIND_SHARD_BITS;
    u32 index = (cell & (WIRE_UNWIND_SHARD_CELLS - 1)) >> WIRE_UNWIND_BLOCK_BITS;
    void* blocks = bpf_map_lookup_elem(&unwind_cells, &shard);

    return blocks ? bpf_map_lookup_elem(blocks, &index) : NULL;
}

/* What was looked up last: a search most often stays in one block. */
struct block_cursor {
    struct unwind_block* block;
    u32 number;
};

static __always_inline u64* cell_at(struct block_cursor* cursor, u32 cell) {
    if (!cursor->block || cursor->number != cell >> WIRE_UNWIND_BLOCK_BITS) {
        cursor->number = cell >> WIRE_UNWIND_BLOCK_BITS;
        cursor->block = block_of(cell);
    }
    return cursor->block ? &cursor->block->cells[cell & (WIRE_UNWIND_BLOCK_CELLS - 1)] : NULL;
}

/* Word `index` of an array that begins at a cell; `missing` when there is none. */
static __always_inline u32 word_at(struct block_cursor* cursor, u32 first_cell, u32 index,
                                   u32 missing) {
    u64* cell = cell_at(cursor, first_cell + (index >> 1));

    return cell ? (u32)(*cell >> ((index & 1) * 32)) : missing;
}

// The bounds of a search stand in memory, of whose values the verifier knows nothing: what it
// learns of them by each comparison would make every turn of the loop a new one to it.
static __always_inline void begin_search(struct stack_walk* walk, u32 low, u32 high) {
    walk->low = low;
    walk->high = high;
}

static __always_inline void narrow_search(struct stack_walk* walk, u32 middle, bool is_behind) {
    if (is_behind)
        walk->low = middle + 1;
    else
        walk->high = middle;
}

// Finds the mapping that walk->code lies in. 0: there is none.
__noinline int find_mapping(struct stack_walk* walk) {
    const struct wire_unwind_mapping* mapping;
    struct block_cursor cursor = {};
    u64 code, *cell;
    u32 first;

    if (!walk)
        return 0;
    code = walk->code;
    first = walk->process.cell;
    begin_search(walk, 0, walk->process.mappings);
    // The first mapping behind the address; the one before it is the one, or there is none.
    for (u32 i = 0; i < LOG2_MAPPINGS && walk->low < walk->high; i++) {
        u32 middle = (walk->low + walk->high) / 2;

        cell = cell_at(&cursor, first + CELLS_OF_MAPPING * middle);
        narrow_search(walk, middle, cell && *cell <= code);
    }
    if (!walk->low)
        return 0;
    // It does not reach into the next block.
    first += CELLS_OF_MAPPING * (walk->low - 1);
    cell = cell_at(&cursor, first & -CELLS_OF_MAPPING);
    mapping = (void*)cell;
    if (!mapping || code < mapping->start || code >= mapping->end)
        return 0;
    walk->mapping = *mapping;
    return 1;
}

static __always_inline bool is_in_mapping(const struct stack_walk* walk) {
    return walk->code - walk->mapping.start < walk->mapping.end - walk->mapping.start;
}

// Finds the rule for walk->code in its mapping's table. Returns the table's wire_unwind_state; the
// rule's kind is WIRE_CFA_NONE when it does not cover the address.
static __always_inline int find_rule(struct stack_walk* walk) {
    u32 table_number, state, page, in_page, row = 0;
    const struct wire_unwind_rule* rule;
    struct block_cursor cursor = {};
    struct wire_unwind_table* table;
    bool found = false;
    u64 relative;

    walk->rule.cfa = WIRE_CFA_NONE;
    table_number = walk->mapping.table;
    if (walk->mapping.kind != WIRE_MAPPING_FILE)
        return WIRE_UNWIND_ABSENT;
    table = bpf_map_lookup_elem(&unwind_tables, &table_number);
    if (!table)
        return WIRE_UNWIND_ABSENT;
    // The rest is written before.
    state = load_acquire(&table->state);
    if (state != WIRE_UNWIND_READY)
        return state;
    relative = walk->code - walk->mapping.bias;
    if (relative >> WIRE_UNWIND_PAGE_BITS >= table->pages)
        return WIRE_UNWIND_READY;
    page = relative >> WIRE_UNWIND_PAGE_BITS;
    in_page = relative & (WIRE_UNWIND_PAGE - 1);
    begin_search(walk, word_at(&cursor, table->page_cell, page, 0),
                 word_at(&cursor, table->page_cell, page + 1, 0));
    cursor.block = NULL;
    for (u32 i = 0; i < LOG2_ROWS_OF_PAGE && walk->low < walk->high; i++) {
        u32 middle = (walk->low + walk->high) / 2;
        u32 at = word_at(&cursor, table->row_cell, middle, ~0U);
        bool is_behind = (at & (WIRE_UNWIND_PAGE - 1)) <= in_page;

        narrow_search(walk, middle, is_behind);
        if (is_behind) {
            row = at;
            found = true;
        }
    }
    // The last row up to the address; it may go on from a page before.
    if (!found) {
        if (!walk->low)
            return WIRE_UNWIND_READY;
        row = word_at(&cursor, table->row_cell, walk->low - 1, 0);
    }
    cursor.block = NULL;
    rule = (void*)cell_at(&cursor, (table->rule_cell & -CELLS_OF_RULE) +
                                       CELLS_OF_RULE * (row >> WIRE_UNWIND_PAGE_BITS));
    if (rule)
        walk->rule = *rule;
    return WIRE_UNWIND_READY;
}

static __always_inline bool read_user_word(u64 address, u64* word) {
    return !bpf_probe_read_user(word, sizeof(*word), (void*)address);
}

// Takes a new piece of the stack, which begins at `address` and ends in the same page.
__noinline int move_window(struct stack_walk* walk, u64 address) {
    u64 size = STACK_PAGE - (address & (STACK_PAGE - 1));

    if (!walk)
        return 0;
    if (size > STACK_WINDOW)
        size = STACK_WINDOW;
    walk->window_start = address;
    walk->window_end = 0;
    if (!bpf_probe_read_user(walk->window, size, (void*)address))
        walk->window_end = address + size;
    return 0;
}

// A word of the stack. Walks go upwards: what is wanted next most often lies in the same window.
static __always_inline bool read_stack_word(struct stack_walk* walk, u64 address, u64* word) {
    if (address & 7)
        return read_user_word(address, word);
    if (address < walk->window_start || address >= walk->window_end) {
        move_window(walk, address);
        if (!walk->window_end)
            return false;
    }
    *word = walk->window[((address - walk->window_start) >> 3) & (STACK_WINDOW_WORDS - 1)];
    return true;
}

// A register of the frame at hand, as DWARF counts. Apart from the three that are followed only the
// interrupted frame has them.
__noinline int read_register(struct stack_walk* walk, u32 number, u64* value) {
    const struct pt_regs___kernel* regs;

    if (!walk || !value)
        return 0;
    if (number == DWARF_RSP) {
        *value = walk->sp;
        return 1;
    }
    if (number == DWARF_RBP) {
        *value = walk->bp;
        return 1;
    }
    if (number == DWARF_RBX && walk->bx_state != WIRE_RBX_VALUE)
        return walk->bx_state == WIRE_RBX_MEMORY && read_user_word(walk->bx, value);
    if (number == DWARF_RBX) {
        *value = walk->bx;
        return 1;
    }
    if (walk->count > 1)
        return 0;
    regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    switch (number) {
    case 0:
        *value = regs->ax;
        return 1;
    case 1:
        *value = regs->dx;
        return 1;
    case 2:
        *value = regs->cx;
        return 1;
    case 4:
        *value = regs->si;
        return 1;
    case 5:
        *value = regs->di;
        return 1;
    case 8:
        *value = regs->r8;
        return 1;
    case 9:
        *value = regs->r9;
        return 1;
    case 10:
        *value = regs->r10;
        return 1;
    case 11:
        *value = regs->r11;
        return 1;
    case 12:
        *value = regs->r12;
        return 1;
    case 13:
        *value = regs->r13;
        return 1;
    case 14:
        *value = regs->r14;
        return 1;
    case 15:
        *value = regs->r15;
        return 1;
    }
    return 0;
}

// Goes on to the thread's next return probe, if the walk has passed the place of this one.
__noinline int pass_return_instances(struct stack_walk* walk) {
    if (!walk)
        return 0;
    for (u32 i = 0; i < MAX_RETURN_INSTANCES; i++) {
        const struct return_instance* at = (void*)walk->return_instance;

        if (!at || walk->return_instance_slot >= walk->slot)
            break;
        walk->return_instance = (u64)BPF_CORE_READ(at, next);
        at = (void*)walk->return_instance;
        walk->return_instance_slot = at ? BPF_CORE_READ(at, stack) : 0;
    }
    return 0;
}

// A return probe has replaced the return address at walk->slot: what stood there. Several may have,
// one behind the other; the last one in the list was first.
__noinline int restore_return_address(struct stack_walk* walk) {
    if (!walk)
        return 0;
    for (u32 i = 0; i < MAX_RETURN_INSTANCES; i++) {
        const struct return_instance* at = (void*)walk->return_instance;

        if (!at || walk->return_instance_slot != walk->slot)
            break;
        walk->ip = BPF_CORE_READ(at, orig_ret_vaddr);
        walk->return_instance = (u64)BPF_CORE_READ(at, next);
        at = (void*)walk->return_instance;
        walk->return_instance_slot = at ? BPF_CORE_READ(at, stack) : 0;
    }
    return 0;
}

// Goes to the caller: its return address, as read from walk->slot, and its stack pointer.
static __always_inline u32 enter_caller(struct stack_walk* walk, u64 return_address, u64 sp) {
    // Where the return address is in a register (vfork), nothing may have been pushed.
    if (walk->slot ? sp <= walk->sp : sp < walk->sp)
        return WIRE_STOP_STUCK;
    walk->ip = return_address;
    if (walk->return_instance) {
        pass_return_instances(walk);
        restore_return_address(walk);
    }
    walk->sp = sp;
    walk->exact = 0;
    // What the outermost function of a thread finds where others have their return address.
    return walk->ip ? WIRE_STOPS : WIRE_STOP_END;
}

// By a rule of WIRE_CFA_GOROUTINE.
__noinline int step_to_goroutine(struct stack_walk* walk) {
    u64 word, return_address, sp;

    if (!walk)
        return WIRE_STOP_END;
    word = bpf_get_current_task_btf()->thread.fsbase + walk->rule.offset;
    if (!read_user_word(word, &word) || !read_user_word(word + walk->rule.rbx_offset, &word) ||
        !read_user_word(word + walk->rule.rbp_offset, &word))
        return WIRE_STOP_UNREADABLE;
    // The scheduler looks for work.
    if (!word)
        return WIRE_STOP_END;
    word += walk->rule.addend;
    if (!read_user_word(word, &sp))
        return WIRE_STOP_UNREADABLE;
    walk->slot = word + sizeof(u64);
    if (walk->rule.return_kind == WIRE_RETURN_AT_CFA) {
        walk->slot = sp;
        sp += sizeof(u64);
    }
    if (!read_user_word(walk->slot, &return_address))
        return WIRE_STOP_UNREADABLE;
    walk->bx_state = WIRE_RBX_LOST;
    walk->sp = 0; // its stack may lie below
    return enter_caller(walk, return_address, sp);
}

// By the rule in walk->rule. Returns why the walk ends here, or WIRE_STOPS.
static __always_inline int step_by_rule(struct stack_walk* walk) {
    u64 cfa, bp, return_address = 0;
    bool by_register;

    if (walk->rule.cfa == WIRE_CFA_END)
        return WIRE_STOP_END;
    if (walk->rule.cfa == WIRE_CFA_SIGNAL) {
        u64 context = walk->sp, ip, sp;

        if (!read_user_word(context + UCONTEXT_RIP, &ip) ||
            !read_user_word(context + UCONTEXT_RSP, &sp) ||
            !read_user_word(context + UCONTEXT_RBP, &walk->bp))
            return WIRE_STOP_UNREADABLE;
        // Handlers may run on a stack of their own: this one step may go down.
        walk->bx = context + UCONTEXT_RBX;
        walk->bx_state = WIRE_RBX_MEMORY;
        walk->ip = ip;
        walk->sp = sp;
        walk->exact = 1;
        // While the kernel puts the registers back, one after the other, there is no such frame.
        return ip ? WIRE_STOPS : WIRE_STOP_STUCK;
    }
    if (walk->rule.cfa == WIRE_CFA_UNSUPPORTED)
        return WIRE_STOP_UNSUPPORTED;
    if (walk->rule.cfa == WIRE_CFA_GOROUTINE)
        return step_to_goroutine(walk);
    if (walk->rule.cfa_register == DWARF_RSP)
        cfa = walk->sp;
    else if (walk->rule.cfa_register == DWARF_RBP)
        cfa = walk->bp;
    else if (!read_register(walk, walk->rule.cfa_register, &cfa))
        return WIRE_STOP_UNSUPPORTED;
    cfa += walk->rule.offset;
    if (walk->rule.cfa == WIRE_CFA_MEMORY) {
        if (!read_user_word(cfa, &cfa))
            return WIRE_STOP_UNREADABLE;
        cfa += walk->rule.addend;
    } else if (walk->rule.cfa == WIRE_CFA_PLT) {
        cfa += (walk->ip & 15) >= (u32)walk->rule.addend ? sizeof(u64) : 0;
    }
    bp = walk->bp;
    // From lower to higher addresses, as windows move: the frame pointer most often lies below the
    // return address.
    by_register = walk->rule.return_kind == WIRE_RETURN_REGISTER;
    if (by_register && !read_register(walk, walk->rule.return_register, &return_address))
        return WIRE_STOP_UNSUPPORTED;
    switch (walk->rule.rbp_saved) {
    case WIRE_SAVED_AT_CFA:
        if (!read_stack_word(walk, cfa + 8 * (s64)walk->rule.rbp_offset, &walk->bp))
            return WIRE_STOP_UNREADABLE;
        break;
    case WIRE_SAVED_AT_RBP:
        // GCC goes on saying so in the epilogue, when rbp has been restored already.
        if (bp >= walk->sp && bp < cfa &&
            !read_stack_word(walk, bp + 8 * (s64)walk->rule.rbp_offset, &walk->bp))
            return WIRE_STOP_UNREADABLE;
        break;
    case WIRE_SAVED_LOST:
        walk->bp = 0;
        break;
    }
    walk->slot = by_register ? 0 : cfa - sizeof(u64);
    if (!by_register && !read_stack_word(walk, walk->slot, &return_address))
        return WIRE_STOP_UNREADABLE;
    switch (walk->rule.rbx_saved) {
    case WIRE_SAVED_AT_CFA:
        walk->bx = cfa + 8 * (s64)walk->rule.rbx_offset;
        walk->bx_state = WIRE_RBX_MEMORY;
        break;
    case WIRE_SAVED_AT_RBP:
        walk->bx = bp + 8 * (s64)walk->rule.rbx_offset;
        walk->bx_state = WIRE_RBX_MEMORY;
        break;
    case WIRE_SAVED_LOST:
        walk->bx_state = WIRE_RBX_LOST;
        break;
    }
    // The other stack may lie below.
    if (walk->rule.cfa == WIRE_CFA_OTHER_STACK)
        walk->sp = 0;
    return enter_caller(walk, return_address, cfa);
}

// Whether `address` stands behind a call instruction: e8 and five bytes, or ff /2 in one of its
// lengths of two to seven bytes.
__noinline int is_behind_call(u64 address) {
    u8 before[8];

    if (bpf_probe_read_user(before, sizeof(before), (void*)(address - sizeof(before))))
        return 0;
    if (before[3] == 0xe8)
        return 1;
    for (u32 i = 1; i < 7; i++) {
        if (before[i] == 0xff && (before[i + 1] & 0x38) == 0x10)
            return 1;
    }
    return 0;
}

// ... and in an executable mapping.
static __always_inline bool is_code_behind_call(struct stack_walk* walk, u64 address) {
    walk->code = address - 1;
    return (is_in_mapping(walk) || find_mapping(walk)) && is_behind_call(address);
}

enum prologue {
    PROLOGUE_UNKNOWN,
    PROLOGUE_NOTHING_PUSHED, // the return address is at the stack pointer
    PROLOGUE_PUSHED_RBP,     // ... and the caller's rbp before it
};

// What the code at an address tells of a function that is being entered or left.
static __always_inline u32 read_prologue(u64 address) {
    u64 code = 0, before = 0;

    if (!read_user_word(address, &code))
        return PROLOGUE_UNKNOWN;
    if ((u8)code == 0x55 || (u8)code == 0xc3 || (u8)code == 0xc2 || (u16)code == 0xc3f3 ||
        (u32)code == 0xfa1e0ff3)
        return PROLOGUE_NOTHING_PUSHED;
    if ((u32)(code << 8) == 0xe5894800 || (u32)(code << 8) == 0xec8b4800) {
        if (read_user_word(address - sizeof(before), &before) && before >> 56 == 0x55)
            return PROLOGUE_PUSHED_RBP;
    }
    return PROLOGUE_UNKNOWN;
}

// Where there is no call frame information. Returns why the walk ends here, or WIRE_STOPS.
__noinline int step_without_rule(struct stack_walk* walk, bool at_return) {
    u32 prologue = PROLOGUE_UNKNOWN;
    u64 caller_bp, return_address, sp;

    if (!walk)
        return WIRE_STOP_END;
    if (walk->exact)
        prologue =
            at_return && walk->count == 1 ? PROLOGUE_NOTHING_PUSHED : read_prologue(walk->ip);
    if (walk->exact && prologue == PROLOGUE_PUSHED_RBP) {
        walk->bp = walk->sp;
    } else if (walk->exact) {
        if (!read_stack_word(walk, walk->sp, &return_address))
            return WIRE_STOP_UNREADABLE;
        walk->slot = walk->sp;
        // A leaf function without a frame: else hardly anything at the stack pointer looks like it.
        // One with a frame may have its caller's rbp there, which may point to data: any bytes.
        if (prologue == PROLOGUE_NOTHING_PUSHED || is_code_behind_call(walk, return_address))
            return enter_caller(walk, return_address, walk->sp + sizeof(u64));
    }
    // By convention, of the outermost frame.
    if (!walk->bp)
        return WIRE_STOP_END;
    if (walk->bp < walk->sp || walk->bp & 7)
        return WIRE_STOP_NO_TABLE;
    walk->slot = walk->bp + sizeof(u64);
    if (!read_stack_word(walk, walk->bp, &caller_bp) ||
        !read_stack_word(walk, walk->slot, &return_address))
        return WIRE_STOP_UNREADABLE;
    if (return_address && walk->return_instance_slot != walk->slot &&
        !is_behind_call(return_address))
        return WIRE_STOP_NO_TABLE;
    sp = walk->slot + sizeof(u64);
    walk->bp = caller_bp;
    walk->bx_state = WIRE_RBX_LOST;
    return enter_caller(walk, return_address, sp);
}

// From the frame at hand to its caller's. Returns why the walk ends here, or WIRE_STOPS. Calls and
// returns are dear where the kernel guards against speculation: this is one function.
__noinline int step(struct stack_walk* walk, bool at_return) {
    if (!walk)
        return WIRE_STOP_END;
    walk->code = walk->exact ? walk->ip : walk->ip - 1;
    if (!is_in_mapping(walk) && !find_mapping(walk))
        return WIRE_STOP_NO_MAPPING;
    if (find_rule(walk) == WIRE_UNWIND_PENDING)
        return WIRE_STOP_PENDING;
    return walk->rule.cfa != WIRE_CFA_NONE ? step_by_rule(walk)
                                           : step_without_rule(walk, at_return);
}

// What is known of the place that leave_probe() finds.
enum place {
    PLACE_KNOWN,
    PLACE_GUESSED,
    PLACE_UNKNOWN, // the walk ends where it begins
};

// The thread has returned to the kernel's code for return probes: to the one for its innermost
// probe, which has pushed up to three registers; or on the way out of it, where the stack has the
// address.
static __always_inline int leave_return_code(struct stack_walk* walk,
                                             const struct pt_regs___kernel* regs) {
    u64 code = 0, skipped, address;

    if (walk->return_instance && walk->return_instance_slot + sizeof(u64) - walk->sp <= 24) {
        walk->slot = walk->return_instance_slot;
        walk->sp = walk->slot + sizeof(u64);
        restore_return_address(walk);
        return PLACE_KNOWN;
    }
    if (!read_user_word(walk->ip, &code))
        return PLACE_UNKNOWN;
    if ((u32)code == 0xc3595b41) // pop %r11; pop %rcx; ret
        skipped = 16;
    else if ((u16)code == 0xc359)
        skipped = 8;
    else if ((u8)code == 0xc3)
        skipped = 0;
    else
        return PLACE_UNKNOWN;
    if (!read_user_word(walk->sp + skipped, &address))
        return PLACE_UNKNOWN;
    // The system call copies the address to where the code has pushed rax, as the last thing that
    // it does. Until it has, rax is there, and the return probe is gone: nothing has the address.
    if ((int)regs->orig_ax == -1 && skipped == 2 * sizeof(u64) && address == regs->ax)
        return PLACE_UNKNOWN;
    walk->ip = address;
    walk->sp += skipped + sizeof(u64);
    return PLACE_KNOWN;
}

// On its way out of the system call for return probes (Linux 6.11) the kernel first lowers the
// stack pointer again, below the three registers that its code has pushed, and then puts back where
// that code goes on. In between the place is the caller's, and the stack pointer is not.
static __always_inline bool is_below_pushed_registers(const struct stack_walk* walk,
                                                      const struct pt_regs___kernel* regs) {
    u64 pushed[3];

    return (int)regs->orig_ax == -1 &&
           !bpf_probe_read_user(pushed, sizeof(pushed), (void*)walk->sp) &&
           pushed[0] == regs->r11 && pushed[1] == regs->cx && pushed[2] == regs->ax &&
           // Three words that are the same, zeros above all, may lie anywhere.
           (pushed[0] != pushed[1] || pushed[1] != pushed[2]);
}

// Of a thread that a probe keeps busy: where it would be without the probe. Returns an enum place.
__noinline int leave_probe(struct stack_walk* walk) {
    struct task_struct* task = bpf_get_current_task_btf();
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(task);
    const struct uprobe_task* utask = task->utask;
    u64 place, area;
    u8 before = 0;

    if (!walk || !utask)
        return PLACE_KNOWN;
    place = BPF_CORE_READ(utask, xol_vaddr);
    area = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
    if (BPF_CORE_READ(utask, active_uprobe)) {
        // The instruction is executed elsewhere. None is longer than 15 bytes.
        if (place && walk->ip - place < 16)
            walk->ip += BPF_CORE_READ(utask, vaddr) - place;
    } else if (area && walk->ip - area < STACK_PAGE) {
        return leave_return_code(walk, regs);
    } else if (area && is_below_pushed_registers(walk, regs)) {
        walk->sp += 3 * sizeof(u64);
    } else if (walk->in_kernel && (int)regs->orig_ax < 0 &&
               !bpf_probe_read_user(&before, sizeof(before), (void*)(walk->ip - 1)) &&
               before == 0xcc) {
        // The breakpoint has been hit, and the kernel has not put the address back yet. (When it
        // has emulated an instruction of one byte the address is the same; but then it disables
        // interrupts, and those that wait come when the thread is back in its own code.)
        walk->ip--;
        return PLACE_GUESSED;
    }
    return PLACE_KNOWN;
}

__noinline int walk_user_stack(struct stack_walk* walk, bool at_return) {
    struct task_struct* task = bpf_get_current_task_btf();
    u32 pid = bpf_get_current_pid_tgid() >> 32, stop = WIRE_STOPS;
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(task);
    struct wire_unwind_process* process;
    const struct uprobe_task* utask;
    u64 began = bpf_jiffies64();
    int place = PLACE_KNOWN;

    if (!walk)
        return 0;
    walk->count = 0;
    if (!task->mm)
        return 0;
    walk->ip = regs->ip;
    walk->sp = regs->sp;
    walk->bp = regs->bp;
    walk->bx = regs->bx;
    walk->bx_state = WIRE_RBX_VALUE;
    walk->exact = 1;
    walk->return_instance = 0;
    walk->return_instance_slot = 0;
    walk->mapping.start = 0;
    walk->mapping.end = 0;
    walk->window_start = 0;
    walk->window_end = 0;
    utask = task->utask;
    if (utask) {
        const struct return_instance* instance = BPF_CORE_READ(utask, return_instances);

        walk->return_instance = (u64)instance;
        if (instance)
            walk->return_instance_slot = BPF_CORE_READ(instance, stack);
        place = leave_probe(walk);
    }
    process = bpf_map_lookup_elem(&unwind_processes, &pid);
    walk->process.cell = process ? process->cell : 0;
    walk->process.mappings = process ? process->mappings : 0;
    if (regs->cs == COMPAT_CS || place == PLACE_UNKNOWN) {
        walk->frames[0] = walk->ip;
        walk->count = 1;
        stop = place == PLACE_UNKNOWN ? WIRE_STOP_UNREADABLE : WIRE_STOP_UNSUPPORTED;
    }
    for (u32 i = 0; i < WIRE_MAX_FRAMES && stop == WIRE_STOPS; i++) {
        // Read from the target's memory, it may be anything; a frame's flags stand above addresses.
        if (walk->ip >> USER_ADDRESS_BITS) {
            stop = WIRE_STOP_STUCK;
            break;
        }
        walk->frames[i] = walk->ip | (walk->exact && i ? WIRE_FRAME_EXACT : 0);
        walk->count = i + 1;
        stop = step(walk, at_return);
    }
    if (stop == WIRE_STOPS)
        stop = WIRE_STOP_DEPTH;
    // No thread begins in a function that is probed where it begins.
    if (stop == WIRE_STOP_END && place == PLACE_GUESSED && walk->count == 1)
        stop = WIRE_STOP_NO_MAPPING;
    // What the walk has read may have been another table's meanwhile.
    if (bpf_jiffies64() - began > MAX_WALK_JIFFIES) {
        walk->count = 1;
        stop = WIRE_STOP_LATE;
    }
    // A thread that executes another program has no stack for a while: only the kernel's part.
    if (stop != WIRE_STOP_END && (regs->orig_ax == EXECVE || regs->orig_ax == EXECVEAT))
        walk->count = 0;
    else if (stop != WIRE_STOP_END && walk->count < WIRE_STACK_WORDS)
        walk->frames[walk->count++] = WIRE_STACK_CUT | stop;
    return walk->count;
}
