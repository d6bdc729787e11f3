// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Where Go's runtime takes goroutines off threads and puts them on again: how long those that have
// timed calls, or work for spans, were parked, and what for, or ready and not executed yet. And
// where it makes them and ends them, for the spans that they work for.
//
// It is sampled as threads' waits are: a goroutine's clock goes while it is on no thread, and a
// wait in which it ticked becomes a sample. Its stack is taken when it is executed again, from
// where it will go on, so that there is one for a sample and none for a switch.
#include "events.h"
#include "filter.h"
#include "gate.h"
#include "goroutine.h"
#include "goroutine_spans.h"
#include "sample.h"
#include "spans.h"
#include "thread_storage.h"
#include "unwind.h"
#include "wait_clock.h"

/* How often goroutines of any kind came by, by wire_go_switches. Written by this program, read by
 * user space. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WIRE_GO_SWITCHES_OF);
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
    u64 ip; /* where it goes on */
    u64 sp;
    u64 ready; /* parked until then, queued from then on */
    u64 now;
    u64 parked_ns;
    u64 queued_ns;
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

// Where the goroutine goes on, and how far that is from its stack's end; false: it is not known.
static __always_inline bool find_parked_place(struct goroutine_wait* wait,
                                              struct stack_place* here) {
    u32 tgid = bpf_get_current_pid_tgid() >> 32;
    const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_processes, &tgid);
    u64 words[2] = {}; // of its stack: low and high end; then stack and instruction pointer

    if (!runtime)
        return false;
    bpf_probe_read_user(words, sizeof(words), (void*)wait->g);
    here->sp = -words[1];
    bpf_probe_read_user(words, sizeof(words), (void*)(wait->g + runtime->g_saved_sp));
    here->sp += words[0];
    wait->sp = words[0];
    wait->ip = words[1];
    return true;
}

// Whether `only` keeps a wait that ends now. `state` and `work` of the goroutine, as far as it has
// them.
__noinline int is_goroutine_wait_kept(struct goroutine_state* state, struct goroutine_work* work,
                                      struct stack_place* here, u64 now) {
    u32 gate = gate_in_force(WIRE_GATE_ONLY), fulfilled = 0;
    struct gate_thread thread;

    if (gate == NO_GATE)
        return true;
    if (!here)
        return false;
    describe_thread(bpf_get_current_task_btf(), &thread);
    if (state)
        fulfilled = terms_of_calls(&state->calls, gate, now, here);
    if (work)
        fulfilled |= terms_of_attached_spans(&work->spans, gate, now);
    return gate_holds(gate, &thread, fulfilled);
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

// The clock ticked in the wait, which `only` keeps.
static __always_inline void sample_goroutine_wait(struct goroutine_state* state,
                                                  struct goroutine_work* work,
                                                  const struct goroutine_wait* wait,
                                                  struct stack_place* here,
                                                  struct wire_wait_stats* stats) {
    struct park_sample* place;
    struct wire_sample* sample;

    place =
        thread_storage(&park_samples, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!place) {
        count_loss(WIRE_LOSS_WAIT_STORAGE);
        return;
    }
    sample = &place->buffer.sample;
    sample->calls = 0;
    if (work)
        list_parked_spans(&work->spans, &place->buffer, wait->g);
    if (state)
        note_parked_calls(&state->calls, &place->buffer, here);
    // What it worked for is over, and it waits for what comes next.
    if (!*(volatile u16*)&sample->calls)
        return;
    sample->user_frames = note_parked_stack(place, wait->g, wait->ip, wait->sp);
    sample->kernel_frames = 0;
    sample->with_waker = 0;
    sample->task = 0;
    __builtin_memset(sample->comm, 0, sizeof(sample->comm));
    send_part(&place->buffer, stats, WIRE_SAMPLE_BLOCKED,
              WIRE_SYSCALL_PARKED + (int)(wait->reason & (WIRE_GO_REASONS - 1)), wait->ready,
              wait->parked_ticks);
    send_part(&place->buffer, stats, WIRE_SAMPLE_RUNNABLE, WIRE_SYSCALL_QUEUED, wait->now,
              wait->queued_ticks);
}

// Of a goroutine that is executed again: from when to when it was on no thread.
static __always_inline void end_absence(struct goroutine_absence* away,
                                        struct goroutine_wait* wait) {
    u64 since = away->since_ns, period = config.wall_period_ns, now = wait->now, ready, clock,
        ticks;
    u32 seed = wait->g >> 4;

    away->since_ns = 0;
    // Clocks of several CPUs.
    if (now < since)
        now = since;
    // Nobody said when it was ready: those that wait for the network are found in a list.
    ready = away->ready_ns ? away->ready_ns : now;
    if (ready < since)
        ready = since;
    if (ready > now)
        ready = now;
    wait->ready = ready;
    wait->reason = away->reason;
    wait->parked_ns = ready - since;
    wait->queued_ns = now - ready;
    if (!period)
        return;
    clock = away->clock_ns;
    away->clock_ns += now - since;
    ticks = ticks_by(clock, seed, period);
    wait->parked_ticks = ticks_by(clock + ready - since, seed, period) - ticks;
    wait->queued_ticks = ticks_by(clock + now - since, seed, period) - ticks - wait->parked_ticks;
}

// What the goroutine has waited is added to its calls; 1: it was on no thread.
__noinline int end_absence_of_caller(struct goroutine_state* state, struct goroutine_wait* wait) {
    if (!state || !wait || !is_off_thread(&state->waits.away))
        return 0;
    end_absence(&state->waits.away, wait);
    state->waits.parked_ns[wait->reason & (WIRE_GO_REASONS - 1)] += wait->parked_ns;
    state->waits.queued_ns += wait->queued_ns;
    return 1;
}

// The same of one that works for spans, to which it is added later.
__noinline int end_absence_of_worker(struct goroutine_work* work, struct goroutine_wait* wait) {
    if (!work || !wait || !is_off_thread(&work->away))
        return 0;
    end_absence(&work->away, wait);
    return 1;
}

__noinline int charge_spans_of_worker(struct goroutine_work* work,
                                      const struct goroutine_wait* wait, bool sampled) {
    struct wire_wait parked = {};

    if (!work || !wait)
        return 0;
    parked.blocked_ns = wait->parked_ns;
    parked.syscall = WIRE_SYSCALL_PARKED + (int)(wait->reason & (WIRE_GO_REASONS - 1));
    return charge_parked_spans(&work->spans, &parked, wait->queued_ns, sampled, wait->g);
}

// The goroutine is executed again.
__noinline int end_goroutine_wait(struct goroutine_state* state, struct goroutine_work* work, u64 g,
                                  u64 now) {
    struct goroutine_wait wait = {.g = g, .now = now};
    struct stack_place here = {};
    u32 zero = 0;
    struct wire_wait_stats* stats = bpf_map_lookup_elem(&wait_stats, &zero);
    bool sampled = false;
    int of_work;
    u64 own_ns;

    if (!stats)
        return 0;
    of_work = end_absence_of_worker(work, &wait);
    end_absence_of_caller(state, &wait);
    if ((wait.parked_ticks || wait.queued_ticks) && find_parked_place(&wait, &here)) {
        sampled = is_goroutine_wait_kept(state, work, &here, now);
        if (!sampled)
            __sync_fetch_and_add(&stats->gated, 1);
    }
    if (of_work)
        charge_spans_of_worker(work, &wait, sampled);
    if (!sampled)
        return 0;
    sample_goroutine_wait(state, work, &wait, &here, stats);
    own_ns = bpf_ktime_get_ns() - now;
    if (state)
        charge(&state->calls, without_interruptions(own_ns));
    __sync_fetch_and_add(&stats->own_ns, own_ns);
    return 0;
}

static __always_inline u32 reason_of(u32 tgid, u32 number) {
    const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_processes, &tgid);

    return runtime && number < sizeof(runtime->reason)
               ? runtime->reason[number & (sizeof(runtime->reason) - 1)]
               : WIRE_GO_OTHER;
}

// One is made, on the scheduler's stack, for the goroutine that the thread works for. Its
// descriptor may have been another's before.
__noinline int start_goroutine(u64 saved_sp) {
    // All zero: a new value for the map.
    static const struct goroutine_work none;
    struct goroutine_key maker, made;
    const struct wire_go_runtime* runtime;
    struct attached_spans* spans;
    struct goroutine_work* work;
    u32 tgid;

    if (!find_worker(&maker))
        return 0;
    tgid = maker.tgid;
    runtime = bpf_map_lookup_elem(&go_processes, &tgid);
    if (!runtime)
        return 0;
    made = maker;
    made.g = saved_sp - runtime->g_saved_sp;
    spans = spans_of_goroutine(&maker);
    if (!is_any_span_open(spans)) {
        bpf_map_delete_elem(&goroutine_spans, &made);
        return 0;
    }
    bpf_map_update_elem(&goroutine_spans, &made, &none, BPF_ANY);
    work = bpf_map_lookup_elem(&goroutine_spans, &made);
    if (!work) {
        count_loss(WIRE_LOSS_STORAGE);
        return 0;
    }
    work->away.clock_ns = bpf_get_prandom_u32();
    work->only_helps = 1;
    if (spans)
        work->spans = *spans;
    return 0;
}

// It leaves its thread, or is ready to come back to one.
static __always_inline void note_switch(struct goroutine_absence* away, u64 what, u32 reason,
                                        u64 now) {
    switch (what) {
    case WIRE_GO_READY:
        if (is_off_thread(away) && !away->ready_ns)
            away->ready_ns = now;
        return;
    case WIRE_GO_PARK:
        away->reason = reason;
        away->ready_ns = 0;
        break;
    default: // WIRE_GO_YIELD
        away->ready_ns = now;
    }
    away->epoch = config.go_epoch;
    away->since_ns = now;
}

SEC("uprobe")
int goroutine_switch(struct pt_regs* ctx) {
    u64 what = bpf_get_attach_cookie(ctx), now;
    struct goroutine_key key = {.tgid = bpf_get_current_pid_tgid() >> 32};
    struct goroutine_work* work = NULL;
    struct goroutine_state* state;
    u32 of = is_target(key.tgid) ? WIRE_GO_SWITCHES_OF_TARGET : WIRE_GO_SWITCHES_OF_OTHERS;
    u32 reason = 0;
    u64* hits = bpf_map_lookup_elem(&go_switches, &of);

    if (hits)
        __sync_fetch_and_add(hits, 1);
    if (!config.go_epoch)
        return 0;
    if (what == WIRE_GO_START) {
        if (*(volatile u32*)&goroutines_work_for_spans)
            start_goroutine(go_argument(ctx));
        return 0;
    }
    key.g = go_argument(ctx);
    barrier(); // the verifier wants no address that is one register's or the other's
    if (what == WIRE_GO_PARK)
        key.g = go_current(ctx);
    state = bpf_map_lookup_elem(&goroutine_calls, &key);
    if (*(volatile u32*)&goroutines_work_for_spans)
        work = bpf_map_lookup_elem(&goroutine_spans, &key);
    if (what == WIRE_GO_END) {
        if (work)
            bpf_map_delete_elem(&goroutine_spans, &key);
        return 0;
    }
    // Whoever it helps waits for it, too.
    if (work && work->only_helps)
        work = NULL;
    if (!state && !work)
        return 0;
    now = bpf_ktime_get_ns();
    if (what == WIRE_GO_EXECUTE) {
        end_goroutine_wait(state, work, key.g, now);
        return 0;
    }
    if (what == WIRE_GO_PARK)
        reason = reason_of(key.tgid, go_third_argument(ctx) & 0xff);
    if (state)
        note_switch(&state->waits.away, what, reason, now);
    if (work)
        note_switch(&work->away, what, reason, now);
    return 0;
}
