// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Where a call through a pointer goes, from its operand, and whether that is a timed function. A
// function of its own, verified once.
#include "call_target.h"

#include "filter.h"
#include "maps.h"
#include "return_probes.h"

#include ARCH(calls.h)
#include ARCH(registers.h)

/* By spec. Written by user space before the spec's probes are attached, read by the tracker. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_MAX_SPECS);
    __type(key, u32);
    __type(value, struct wire_call_operand);
} call_operands SEC(".maps");

/* Written by user space, read by the tracker. Full: user space gets an error for its edit. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_MAX_CALLEES);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct wire_call_target);
    __type(value, u32);
} call_targets SEC(".maps");

enum {
    NO_MAPPING = 2,      // ENOENT
    MAPPINGS_CHANGE = 16 // EBUSY: somebody maps or unmaps, or puts a breakpoint into a file
};

struct code_address {
    u64 mm; // the process, for as long as it runs a program
    u64 address;
};

struct code_place {
    u64 start, first_page; // of the mapping
    u64 inode, file_size;  // 0: it is no file's
    u64 start_stack;       // of the program, by which it is told from another with the same `mm`
};

/* Where calls went before, for moments in which that cannot be looked up. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, WIRE_MAX_CALLEES);
    __type(key, struct code_address);
    __type(value, struct code_place);
} called_code SEC(".maps");

// Who changes the mappings does so for some microseconds mostly.
#define MOST_LOOKS 64

static long note_code(struct task_struct* task, struct vm_area_struct* area,
                      struct code_place* found) {
    found->start = BPF_CORE_READ(area, vm_start);
    found->first_page = BPF_CORE_READ(area, vm_pgoff);
    found->inode = BPF_CORE_READ(area, vm_file, f_inode, i_ino);
    found->file_size = BPF_CORE_READ(area, vm_file, f_inode, i_size);
    return 0;
}

// Which code is at the address: `target`'s inode, size and offset. An error of bpf_find_vma() when
// there is none, or that cannot be told now.
__noinline long find_code(u64 address, struct wire_call_target* target) {
    struct task_struct* task = bpf_get_current_task_btf();
    struct code_address key = {.mm = (u64)task->mm, .address = address};
    struct code_place code = {.start_stack = BPF_CORE_READ(task, mm, start_stack)};
    const struct code_place* known;
    long error = 0;

    if (!target)
        return -NO_MAPPING;
    known = bpf_map_lookup_elem(&called_code, &key);
    for (u32 looks = 0; looks < MOST_LOOKS; looks++) {
        error = bpf_find_vma(task, address, note_code, &code, 0);
        if (error != -MAPPINGS_CHANGE)
            break;
        if (known && known->start_stack == code.start_stack) {
            code = *known;
            error = 0;
            break;
        }
    }
    if (error)
        return error;
    if (!known || known->start != code.start || known->first_page != code.first_page ||
        known->inode != code.inode || known->start_stack != code.start_stack)
        bpf_map_update_elem(&called_code, &key, &code, BPF_ANY);
    target->inode = code.inode;
    target->file_size = code.file_size;
    target->offset = address - code.start + (code.first_page << 12);
    return 0;
}

// The sum of two registers, see wire_operand_register, the second one times `scale`. By way of an
// array, since the verifier lets nobody index the context; no larger than it must be, since all
// functions that call each other have 512 bytes of stack together.
__noinline u64 operand_sum(struct pt_regs* ctx, u32 base, u32 index, u32 scale) {
    u64 registers[WIRE_OPERAND_CALL + 1] = {};

    note_operand_registers(registers, ctx);
    if (base > WIRE_OPERAND_CALL)
        base = WIRE_OPERAND_NONE;
    if (index > WIRE_OPERAND_CALL)
        index = WIRE_OPERAND_NONE;
    return registers[base] + registers[index] * scale;
}

// Calls of threads that nobody observes are no loss.
static __noinline int lose_call(void) {
    struct task_struct* task = bpf_get_current_task_btf();

    if (is_observed(task->tgid, task->pid))
        count_loss(WIRE_LOSS_POINTER);
    return 0;
}

// Whether `address` is one of the targets of a cookie's spec. Negative: that cannot be told now.
__noinline int find_target(u64 cookie, u64 from, u64 address, bool other_files) {
    struct wire_call_target target = {.spec = cookie & WIRE_COOKIE_SPEC_MASK,
                                      .generation = (u16)(cookie >> WIRE_COOKIE_GENERATION_SHIFT),
                                      .offset = address - from};
    long error;

    if (bpf_map_lookup_elem(&call_targets, &target))
        return 1;
    if (!other_files)
        return 0;
    error = find_code(address, &target);
    // Nothing is mapped there: the call goes nowhere. Else the mappings are being changed just now.
    if (error)
        return error == -NO_MAPPING ? 0 : -1;
    if (!target.inode)
        return 0;
    return bpf_map_lookup_elem(&call_targets, &target) != NULL;
}

__noinline int calls_timed_function(struct pt_regs* ctx, u64 cookie) {
    u32 spec = cookie & WIRE_COOKIE_SPEC_MASK;
    struct wire_call_operand* operand = bpf_map_lookup_elem(&call_operands, &spec);
    u64 address;
    int error;

    if (!operand)
        return 0;
    address =
        operand_sum(ctx, operand->base, operand->index, operand->scale) + operand->displacement;
    if (operand->in_memory && bpf_probe_read_user(&address, sizeof(address), (void*)address))
        return lose_call();
    error = find_target(cookie, PT_REGS_IP(ctx), address, operand->other_files);
    return error < 0 ? lose_call() : error;
}

__noinline int returns_to_known_place(struct pt_regs* ctx, u64 cookie) {
    u64 address;

    if (read_caller(ctx, &address))
        return 0;
    // A function that has been jumped from, or to, may have a return probe itself.
    if (is_return_probe(address))
        address = find_return_address(
            (u64)BPF_CORE_READ(bpf_get_current_task_btf(), utask, return_instances),
            PT_REGS_SP(ctx));
    return find_target(cookie, PT_REGS_IP(ctx), address, 1) > 0;
}
