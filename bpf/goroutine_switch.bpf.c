// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Where Go's runtime takes goroutines off threads and puts them on again: how long those that have
// timed calls were parked, and what for, or ready and not executed yet.
//
// It is sampled as threads' waits are: a goroutine's clock goes while it is on no thread, and a
// wait in which it ticked becomes a sample. Its stack is taken when it is executed again, from
// where it will go on, so that there is one for a sample and none for a switch.
#include "events.h"
#include "gate.h"
#include "goroutine.h"
#include "sample.h"
#include "thread_storage.h"
#include "unwind.h"
#include "wait_clock.h"

/* One element: how often goroutines of any kind came by. Written by this program, read by user
 * space. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} go_switches SEC(".maps");

struct park_sample {
    struct stack_walk walk;
    struct sample_buffer buffer;
};

/* Where a sample is put together: a thread's, since a uprobe's program may be preempted. Written by
 * this program alone. A failed creation is counted as WIRE_LOSS_WAIT_STORAGE. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct park_sample);
} park_samples SEC(".maps");

/* One that has ended. */
struct goroutine_wait {
    u64 g;
    u64 ready; /* parked until then, queued from then on */
    u64 now;
    u64 parked_ticks;
    u64 queued_ticks;
    u32 reason;
    u32 padding;
};

// Functions of their own, or the verifier would try every way through every turn of the loop.
__noinline int note_parked_call(struct open_call* call, struct sample_buffer* buffer,
                                struct stack_place* here) {
    if (call && buffer && here && list_open_call(call, buffer, here))
        call->waits++;
    return 0;
}

__noinline int note_parked_calls(struct open_calls* calls, struct sample_buffer* buffer,
                                 struct stack_place* here) {
    u32 depth;

    if (!calls || !buffer)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        note_parked_call(&calls->calls[i], buffer, here);
    }
    return 0;
}

// Whether `only` keeps a wait that ends now.
static __noinline bool is_kept(struct open_calls* calls, struct stack_place* here, u64 now) {
    u32 gate = gate_in_force(WIRE_GATE_ONLY);
    struct gate_thread thread;

    if (gate == NO_GATE)
        return true;
    describe_thread(bpf_get_current_task_btf(), &thread);
    return gate_holds(gate, &thread, terms_of_calls(calls, gate, now, here));
}

// A uprobe's program may be preempted by another that counts here.
static __always_inline void send_part(struct sample_buffer* buffer, struct wire_wait_stats* stats,
                                      u32 kind, int what, u64 end_ns, u64 ticks) {
    struct wire_sample* sample = &buffer->sample;
    u32 size;

    if (!ticks)
        return;
    size = sizeof(*sample) + words_of_frames(sample) * sizeof(u64);
    if (size > sizeof(*buffer))
        return;
    sample->event.kind = WIRE_SAMPLE;
    sample->event.size = size;
    sample->event.time_ns = end_ns;
    sample->event.pid = bpf_get_current_pid_tgid() >> 32;
    sample->event.tid = 0; // no thread waited
    sample->weight_ns = ticks * config.wall_period_ns;
    sample->cpu = bpf_get_smp_processor_id();
    sample->sample_kind = kind;
    sample->syscall = what;
    if (bpf_ringbuf_output(&events, buffer, size, wakeup_flags()))
        count_loss(WIRE_LOSS_RING_WAIT);
    else
        __sync_fetch_and_add(&stats->samples, 1);
}

__noinline u32 note_parked_stack(struct park_sample* place, u64 g, u64 ip, u64 sp) {
    u32 offset, frames;

    if (!place)
        return 0;
    offset = words_of_calls(&place->buffer.sample);
    frames = walk_parked_stack(&place->walk, g, ip, sp);
    if (frames > WIRE_STACK_WORDS || offset > SAMPLE_WORDS - WIRE_STACK_WORDS)
        return 0;
    bpf_probe_read_kernel(&place->buffer.words[offset], frames * sizeof(u64), place->walk.frames);
    return frames;
}

// The clock ticked in the wait.
__noinline int sample_goroutine_wait(struct open_calls* calls, const struct goroutine_wait* wait) {
    u32 tgid = bpf_get_current_pid_tgid() >> 32, zero = 0;
    const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_processes, &tgid);
    struct wire_wait_stats* stats = bpf_map_lookup_elem(&wait_stats, &zero);
    struct stack_place here = {};
    struct park_sample* place;
    struct wire_sample* sample;
    u64 high, words[2] = {}; // of its stack: low and high end; then stack and instruction pointer

    if (!calls || !wait || !runtime || !stats)
        return 0;
    bpf_probe_read_user(words, sizeof(words), (void*)wait->g);
    high = words[1];
    bpf_probe_read_user(words, sizeof(words), (void*)(wait->g + runtime->g_saved_sp));
    here.sp = words[0] - high;
    if (!is_kept(calls, &here, wait->now)) {
        __sync_fetch_and_add(&stats->gated, 1);
        return 0;
    }
    place =
        thread_storage(&park_samples, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!place) {
        count_loss(WIRE_LOSS_WAIT_STORAGE);
        return 0;
    }
    sample = &place->buffer.sample;
    sample->calls = 0;
    note_parked_calls(calls, &place->buffer, &here);
    sample->user_frames = note_parked_stack(place, wait->g, words[1], words[0]);
    sample->kernel_frames = 0;
    sample->with_waker = 0;
    sample->task = 0;
    __builtin_memset(sample->comm, 0, sizeof(sample->comm));
    send_part(&place->buffer, stats, WIRE_SAMPLE_BLOCKED,
              WIRE_SYSCALL_PARKED + (int)(wait->reason & (WIRE_GO_REASONS - 1)), wait->ready,
              wait->parked_ticks);
    send_part(&place->buffer, stats, WIRE_SAMPLE_RUNNABLE, WIRE_SYSCALL_QUEUED, wait->now,
              wait->queued_ticks);
    return 0;
}

// The goroutine is executed again.
static __always_inline void end_goroutine_wait(struct goroutine_state* state, u64 g, u64 now) {
    struct goroutine_waits* waits = &state->waits;
    u64 since = waits->off_since_ns, period = config.wall_period_ns, ready, clock, ticks, own_ns;
    u32 seed = g >> 4, zero = 0;
    struct wire_wait_stats* stats;
    struct goroutine_wait wait;

    waits->off_since_ns = 0;
    // Clocks of several CPUs.
    if (now < since)
        now = since;
    // Nobody said when it was ready: those that wait for the network are found in a list.
    ready = waits->ready_ns ? waits->ready_ns : now;
    if (ready < since)
        ready = since;
    if (ready > now)
        ready = now;
    waits->parked_ns[waits->reason & (WIRE_GO_REASONS - 1)] += ready - since;
    waits->queued_ns += now - ready;
    if (!period)
        return;
    clock = waits->clock_ns;
    waits->clock_ns += now - since;
    ticks = ticks_by(clock, seed, period);
    wait.g = g;
    wait.ready = ready;
    wait.now = now;
    wait.reason = waits->reason;
    wait.padding = 0;
    wait.parked_ticks = ticks_by(clock + ready - since, seed, period) - ticks;
    wait.queued_ticks = ticks_by(clock + now - since, seed, period) - ticks - wait.parked_ticks;
    if (!wait.parked_ticks && !wait.queued_ticks)
        return;
    sample_goroutine_wait(&state->calls, &wait);
    own_ns = bpf_ktime_get_ns() - now;
    charge(&state->calls, without_interruptions(own_ns));
    stats = bpf_map_lookup_elem(&wait_stats, &zero);
    if (stats)
        __sync_fetch_and_add(&stats->own_ns, own_ns);
}

static __always_inline void begin_goroutine_wait(struct goroutine_waits* waits, u64 now) {
    waits->epoch = config.go_epoch;
    waits->ready_ns = 0;
    waits->off_since_ns = now;
}

static __always_inline u32 reason_of(u32 tgid, u32 number) {
    const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_processes, &tgid);

    return runtime && number < sizeof(runtime->reason)
               ? runtime->reason[number & (sizeof(runtime->reason) - 1)]
               : WIRE_GO_OTHER;
}

SEC("uprobe")
int goroutine_switch(struct pt_regs* ctx) {
    u64 what = bpf_get_attach_cookie(ctx), now;
    struct goroutine_key key = {.tgid = bpf_get_current_pid_tgid() >> 32};
    struct goroutine_state* state;
    u32 zero = 0;
    u64* hits = bpf_map_lookup_elem(&go_switches, &zero);

    if (hits)
        __sync_fetch_and_add(hits, 1);
    if (!config.go_epoch)
        return 0;
    key.g = go_argument(ctx);
    barrier(); // the verifier wants no address that is one register's or the other's
    if (what == WIRE_GO_PARK)
        key.g = go_current(ctx);
    state = bpf_map_lookup_elem(&goroutine_calls, &key);
    if (!state)
        return 0;
    now = bpf_ktime_get_ns();
    switch (what) {
    case WIRE_GO_PARK:
        state->waits.reason = reason_of(key.tgid, go_third_argument(ctx) & 0xff);
        begin_goroutine_wait(&state->waits, now);
        break;
    case WIRE_GO_READY:
        if (is_off_thread(&state->waits) && !state->waits.ready_ns)
            state->waits.ready_ns = now;
        break;
    case WIRE_GO_EXECUTE:
        if (is_off_thread(&state->waits))
            end_goroutine_wait(state, key.g, now);
        break;
    case WIRE_GO_YIELD:
        begin_goroutine_wait(&state->waits, now);
        state->waits.ready_ns = now;
        break;
    }
    return 0;
}
