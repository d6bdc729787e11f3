// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The least that a probe can cost: programs that do nothing, for the same places as the tracker's.
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

SEC("uprobe")
int empty_probe(struct pt_regs* ctx) {
    return 0;
}

// Answering 0 at the entry asks for the return as well.
SEC("uprobe")
int empty_session(struct pt_regs* ctx) {
    return 0;
}

SEC("tp_btf/sched_switch")
int empty_switch(void* ctx) {
    return 0;
}

SEC("tp_btf/sched_waking")
int empty_waking(void* ctx) {
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
