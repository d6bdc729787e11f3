// SPDX-License-Identifier: GPL-3.0-or-later
// In place of libbpf's header of this name, where walks of stacks are compiled for user space
// (thread_walk.c): what they call of the kernel, and how their maps are declared, which here hold
// nothing and stand for those in the kernel.
#ifndef AUGER_WALK_BPF_HELPERS_H
#define AUGER_WALK_BPF_HELPERS_H

#include <linux/types.h>

#define SEC(name)
#define __hidden
#define __noinline __attribute__((noinline))
#undef __always_inline // of the C library
#define __always_inline inline __attribute__((always_inline))
#define barrier() __asm__ volatile("" ::: "memory")

#define __uint(name, value) int(*name)[value]
#define __type(name, type) __typeof__(type)* name
#define __array(name, type) __typeof__(type)* name[]

// libbpf has functions of these names for programs in user space.
#define bpf_map_lookup_elem walk_map_lookup_elem
#define bpf_map_update_elem walk_map_update_elem
#define bpf_probe_read_user walk_probe_read_user
#define bpf_probe_read_user_str walk_probe_read_user_str
#define bpf_get_current_task_btf walk_current_task
#define bpf_get_current_pid_tgid walk_current_pid_tgid
#define bpf_task_pt_regs walk_task_pt_regs
#define bpf_jiffies64 walk_jiffies64

struct task_struct;

void* bpf_map_lookup_elem(void* map, const void* key);
long bpf_map_update_elem(void* map, const void* key, const void* value, __u64 flags);
long bpf_probe_read_user(void* to, __u32 size, const void* from);
long bpf_probe_read_user_str(void* to, __u32 size, const void* from);
struct task_struct* bpf_get_current_task_btf(void);
__u64 bpf_get_current_pid_tgid(void);
long bpf_task_pt_regs(struct task_struct* task);
__u64 bpf_jiffies64(void);

// Named by inline functions that no walk calls.
long bpf_get_stack(void* ctx, void* to, __u32 size, __u64 flags);
void* bpf_task_storage_get(void* map, struct task_struct* task, void* value, __u64 flags);

#endif
