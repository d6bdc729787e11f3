/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The few kernel types that the programs read, as CO-RE sees them: only the fields in use, in no
 * particular order; libbpf relocates the accesses to the running kernel's layout. Written by hand
 * so that a build needs no kernel with BTF.
 */
#ifndef AUGER_KERNEL_TYPES_H
#define AUGER_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "arch/arch.h"

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#include ARCH(types.h)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct signal_struct {
    struct {
        int counter;
    } live;                               /* threads of the process that have not exited */
    unsigned long long sum_sched_runtime; /* CPU time of those that have ended */
};

struct sched_entity {
    unsigned long long sum_exec_runtime; /* as of the last tick or switch */
};

/* Where instructions that probes have replaced are executed, and where functions return to whose
 * return address a return probe has replaced. */
struct xol_area {
    unsigned long vaddr;
};

struct uprobes_state {
    struct xol_area* xol_area;
};

struct mm_struct {
    unsigned long start_stack;
    struct uprobes_state uprobes_state;
};

struct kernfs_node {
    u64 id;
};

struct cgroup {
    struct kernfs_node* kn;
};

struct css_set {
    struct cgroup* dfl_cgrp; /* of version 2 */
};

/* A return probe that waits for its function to return. */
struct return_instance {
    struct return_instance* next;
    unsigned long stack; /* where the return address lies */
    unsigned long orig_ret_vaddr;
};

struct uprobe;

struct uprobe_task {
    struct return_instance* return_instances;
    struct uprobe* active_uprobe; /* whose instruction the thread executes, at xol_vaddr */
    unsigned long xol_vaddr;
    unsigned long vaddr; /* where the instruction stands in the program */
};

/* What the kernel accounts for where it has CONFIG_SCHED_INFO. */
struct sched_info {
    unsigned long long run_delay;    /* how long the thread has waited for a CPU, in all */
    unsigned long long last_arrival; /* when it came to one, by the scheduler's clock */
};

struct task_struct {
    void* stack; /* the kernel's, of this thread */
    struct css_set* cgroups;
    int pid;
    int tgid;
    unsigned int __state; /* 0: runnable */
    struct uprobe_task* utask;
    char comm[16];
    struct signal_struct* signal;
    struct mm_struct* mm;
    struct files_struct* files;
    struct sched_entity se;
    struct sched_info sched_info;
    unsigned long nvcsw; /* context switches */
    unsigned long nivcsw;
    unsigned long long start_time; /* CLOCK_MONOTONIC */
    struct thread_struct thread;
};

struct inode {
    unsigned long i_ino;
    long long i_size;
};

struct file {
    struct inode* f_inode;
    void* private_data; /* of a socket's: its struct socket */
};

struct fdtable {
    unsigned int max_fds;
    struct file** fd;
};

struct files_struct {
    struct fdtable* fdt;
};

struct vm_area_struct {
    unsigned long vm_start;
    unsigned long vm_end;
    unsigned long vm_pgoff; /* pages */
    struct file* vm_file;
};

/* A socket; of a TCP connection its queues. */
struct sock_common {
    unsigned short skc_family;
    volatile unsigned char skc_state;
    unsigned short skc_num; /* the port of this side */
};

struct sk_buff_head {
    u32 qlen;
};

struct refcount_struct {
    struct {
        int counter;
    } refs;
};

struct socket;

struct sock {
    struct sock_common __sk_common;
    struct socket* sk_socket; /* NULL: no file has it any more */
    int sk_sndbuf;            /* how much memory what is sent may take */
    u16 sk_type;
    u8 sk_shutdown;
    struct sk_buff_head sk_receive_queue; /* what has come and has not all been received */
    struct refcount_struct sk_wmem_alloc; /* memory of what was sent and has not been received */
};

struct socket {
    unsigned long flags;
    struct sock* sk;
};

struct inet_bind_bucket {
    signed char fastreuse; /* -1: its port was chosen by connect() */
};

struct inet_connection_sock {
    struct inet_bind_bucket* icsk_bind_hash;
};

struct tcp_sock {
    struct inet_connection_sock inet_conn;
    u32 rcv_nxt;    /* what has come, ... */
    u32 copied_seq; /* ... and been received */
    u32 write_seq;  /* what has been sent, ... */
    u32 snd_una;    /* ... and acknowledged */
    u64 bytes_received;
};

struct sockaddr_un {
    unsigned short sun_family;
    char sun_path[108];
};

struct unix_address {
    int len; /* of name, all of it */
    struct sockaddr_un name[];
};

struct unix_sock {
    struct unix_address* addr; /* of an accepted one that of the listening one */
    struct sock* peer;
};

/* What a program that visits all tasks is given: one of them, and none at the end. */
struct seq_file;

struct bpf_iter_meta {
    struct seq_file* seq;
};

struct bpf_iter__task {
    struct bpf_iter_meta* meta;
    struct task_struct* task;
};

/* ... or all elements of a map. */
struct bpf_map;

struct bpf_iter__bpf_map_elem {
    struct bpf_iter_meta* meta;
    struct bpf_map* map;
    void* key;
    void* value;
};

#pragma clang attribute pop

#endif
