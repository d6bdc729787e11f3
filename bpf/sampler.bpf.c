// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The sampler: at every tick of a perf event, the stack of the thread that runs and the calls it is
// in. It may interrupt the call tracker anywhere, so it only reads what the tracker wrote, and
// counts.
#include "events.h"
#include "filter.h"
#include "gate.h"
#include "maps.h"
#include "sample.h"
#include "unwind.h"

/* One element; written by the sampler, read by user space. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct wire_sampler_stats);
} sampler_stats SEC(".maps");

struct sampler_buffer {
    struct sample_buffer sample;
    struct stack_copy copy; /* somewhere in here or before, behind the sample's words */
};

/* One element: where the sampler puts a sample together. Private to it: a perf event's program is
 * never interrupted by another one on its CPU. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct sampler_buffer);
} sample_buffer SEC(".maps");

/* One element: the sampler's walk, likewise. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct stack_walk);
} sampler_walk SEC(".maps");

static __always_inline u64 user_stack_pointer(struct bpf_perf_event_data* ctx) {
    struct pt_regs___kernel* regs;

    if (ctx->regs.cs & 3)
        return PT_REGS_SP(&ctx->regs);
    regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    return BPF_CORE_READ(regs, sp);
}

// A function of its own, or the verifier would try every way through every turn of the loop below.
__noinline int note_sampled_call(struct open_call* call, struct sample_buffer* buffer, u64 sp) {
    if (call && list_open_call(call, buffer, sp))
        call->samples++;
    return 0;
}

static __always_inline void note_open_calls(struct bpf_perf_event_data* ctx,
                                            struct sample_buffer* buffer) {
    struct open_calls* calls =
        bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
    u32 depth;
    u64 sp;

    buffer->sample.calls = 0;
    if (!calls || !calls->depth)
        return;
    depth = calls->depth;
    sp = user_stack_pointer(ctx);
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        note_sampled_call(&calls->calls[i], buffer, sp);
    }
}

// How many ticks of this CPU came since the last sample of the base rate. Sampler only.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u32);
} base_ticks SEC(".maps");

// Whether this tick is one of the base rate, when another one applies inside a gate.
static __always_inline bool is_base_tick(u32 every) {
    u32 zero = 0;
    u32* ticks = bpf_map_lookup_elem(&base_ticks, &zero);

    if (!ticks || !every || ++*ticks < every)
        return false;
    *ticks = 0;
    return true;
}

// A tick that a gate keeps back lengthens the calls that it hits all the same.
__noinline int note_gated_tick(struct open_calls* calls) {
    if (!calls)
        return 0;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= calls->depth)
            break;
        calls->calls[i].gated++;
    }
    return 0;
}

// How many ticks the sample stands for; 0: a gate keeps it back.
static __noinline u32 ticks_passed(struct open_calls* calls, u32 only, u32 raised, u64 sp,
                                   u64 now) {
    struct gate_thread thread;
    u32 every;

    describe_thread(bpf_get_current_task_btf(), &thread);
    if (only != NO_GATE && !gate_holds(only, &thread, terms_of_calls(calls, only, now, sp)))
        return 0;
    if (raised == NO_GATE || gate_holds(raised, &thread, terms_of_calls(calls, raised, now, sp)))
        return 1;
    every = config.base_every;
    return is_base_tick(every) ? every : 0;
}

SEC("perf_event")
int take_sample(struct bpf_perf_event_data* ctx) {
    u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
    u32 pid = id >> 32, tid = (u32)id, zero = 0;
    bool calibrating = config.calibration_tid && tid == config.calibration_tid;
    struct wire_sampler_stats* stats = bpf_map_lookup_elem(&sampler_stats, &zero);
    struct sampler_buffer* whole_buffer = bpf_map_lookup_elem(&sample_buffer, &zero);
    u32 only = gate_in_force(WIRE_GATE_ONLY), raised = gate_in_force(WIRE_GATE_RAISED);
    struct stack_walk* walk = bpf_map_lookup_elem(&sampler_walk, &zero);
    u32 offset, size, frames, ticks = 1;
    struct sample_buffer* buffer;
    struct wire_sample* sample;

    if (!stats || !whole_buffer || !walk)
        return 0;
    buffer = &whole_buffer->sample;
    if (!calibrating) {
        stats->ticks++;
        // The idle task and other kernel threads have no pid of a target.
        if (!pid || !is_observed(pid, tid)) {
            stats->filtered++;
            return 0;
        }
        if (only != NO_GATE || raised != NO_GATE) {
            struct open_calls* calls =
                bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);

            ticks = ticks_passed(calls, only, raised, user_stack_pointer(ctx), now);
            if (!ticks) {
                stats->gated++;
                note_gated_tick(calls);
                return 0;
            }
        }
    }
    sample = &buffer->sample;
    sample->weight_ns =
        ticks * (config.sample_weight_ns ? config.sample_weight_ns : ctx->sample_period);
    sample->cpu = bpf_get_smp_processor_id();
    sample->sample_kind = WIRE_SAMPLE_CPU;
    sample->with_waker = 0;
    sample->syscall = WIRE_SYSCALL_NONE;
    bpf_get_current_comm(sample->comm, sizeof(sample->comm));

    note_open_calls(ctx, buffer);
    offset = words_of_calls(sample);
    frames = walk_user_stack(walk, false);
    if (frames > WIRE_STACK_WORDS)
        return 0;
    bpf_probe_read_kernel(&buffer->words[offset], frames * sizeof(u64), walk->frames);
    sample->user_frames = frames;
    offset += frames;
    frames = take_kernel_stack(ctx, &buffer->words[offset]);
    if (frames > WIRE_MAX_FRAMES)
        return 0;
    sample->kernel_frames = frames;
    offset += frames;

    size = sizeof(*sample) + offset * sizeof(u64);
    if (size > sizeof(*buffer))
        return 0;
    size += copy_stack(walk, (void*)buffer + size);
    if (size > sizeof(*whole_buffer))
        return 0;
    fill_event(&sample->event, WIRE_SAMPLE, size);
    // When it was taken, as gates judged it; not when its stack had been walked.
    sample->event.time_ns = now;
    if (calibrating) {
        // The whole way but for the last step, which would put a sample of ourselves into the data.
        bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);
        return 0;
    }
    if (bpf_ringbuf_output(&events, buffer, size, wakeup_flags()))
        count_loss(WIRE_LOSS_RING_SAMPLE);
    else
        stats->samples++;
    return 0;
}
