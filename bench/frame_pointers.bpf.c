// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// A sampler as auger's, as far as a sample goes, that has the kernel walk by frame pointers.
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

enum { MAX_FRAMES = 127 };

struct sample {
    __u64 time_ns;
    __u64 id;
    __u64 weight_ns;
    char comm[16];
    __u64 frames[2 * MAX_FRAMES];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct sample);
} buffers SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 16 << 20);
} ring SEC(".maps");

SEC("perf_event")
int sample_by_frame_pointers(struct bpf_perf_event_data* ctx) {
    const __u32 bytes = MAX_FRAMES * sizeof(__u64);
    __u32 zero = 0;
    struct sample* sample = bpf_map_lookup_elem(&buffers, &zero);
    long user, kernel;
    __u64 size;

    if (!sample)
        return 0;
    sample->time_ns = bpf_ktime_get_ns();
    sample->id = bpf_get_current_pid_tgid();
    sample->weight_ns = ctx->sample_period;
    bpf_get_current_comm(sample->comm, sizeof(sample->comm));
    user = bpf_get_stack(ctx, sample->frames, bytes, BPF_F_USER_STACK);
    if (user < 0 || user > bytes)
        return 0;
    kernel = bpf_get_stack(ctx, (void*)sample->frames + user, bytes, 0);
    if (kernel < 0)
        kernel = 0;
    size = sizeof(*sample) - sizeof(sample->frames) + user + kernel;
    if (size <= sizeof(*sample))
        bpf_ringbuf_output(&ring, sample, size, BPF_RB_NO_WAKEUP);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
