// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The sampler: at every tick of a perf event, the stack of the thread that runs and the calls it is
// in. It may interrupt the call tracker anywhere, so it only reads what the tracker wrote, and
// counts.
#include "events.h"
#include "filter.h"
#include "gate.h"
#include "goroutine.h"
#include "loop_tasks.h"
#include "maps.h"
#include "sample.h"
#include "spans.h"
#include "unwind.h"

#include ARCH(registers.h)

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

/* One for each CPU. What ticks cost there: user space writes what it measured, the sampler what it
 * sees of ticks of the thread that measures. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1); /* user space: as many as there are CPUs */
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, u32);
    __type(value, struct wire_tick_cost);
} tick_costs SEC(".maps");

static __always_inline struct wire_tick_cost* tick_cost(void) {
    u32 cpu = bpf_get_smp_processor_id();

    return bpf_map_lookup_elem(&tick_costs, &cpu);
}

/* One element: the sampler's walk, likewise. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct stack_walk);
} sampler_walk SEC(".maps");

static __always_inline u64 user_stack_pointer(struct bpf_perf_event_data* ctx) {
    struct pt_regs___kernel* regs;

    if (is_user_mode(&ctx->regs))
        return PT_REGS_SP(&ctx->regs);
    regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    return BPF_CORE_READ(regs, sp);
}

// A function of its own, or the verifier would try every way through every turn of the loop below.
__noinline int note_sampled_call(struct open_call* call, struct sample_buffer* buffer,
                                 struct stack_place* here) {
    if (call && list_open_call(call, buffer, here))
        call->samples++;
    return 0;
}

__noinline int note_sampled_calls(struct open_calls* calls, struct sample_buffer* buffer,
                                  struct stack_place* here) {
    u32 depth;

    if (!calls || !buffer)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        note_sampled_call(&calls->calls[i], buffer, here);
    }
    return 0;
}

static __always_inline struct open_calls* calls_of(const struct goroutine* goroutine) {
    // Old verifiers take keys from the stack and from maps only.
    struct goroutine_key key = goroutine->key;

    return key.g ? bpf_map_lookup_elem(&goroutine_calls, &key) : NULL;
}

static __always_inline void note_calls_of(const struct goroutine* goroutine,
                                          struct sample_buffer* buffer) {
    struct open_calls* calls = calls_of(goroutine);
    struct stack_place here = {.sp = goroutine->sp};

    if (calls)
        note_sampled_calls(calls, buffer, &here);
}

// What calls the thread is in: its goroutine's, and its own, which are functions that Go calls.
static __always_inline void note_open_calls(struct open_calls* calls, struct stack_place* here,
                                            const struct goroutines* goroutines,
                                            struct sample_buffer* buffer) {
    struct attached_spans* spans;

    buffer->sample.calls = 0;
    spans = spans_worked_for(calls);
    if (spans)
        list_attached_spans(spans, buffer, true);
    note_calls_of(&goroutines->worked_for, buffer);
    note_calls_of(&goroutines->on_stack, buffer);
    if (calls && calls->depth)
        note_sampled_calls(calls, buffer, here);
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

// A tick lengthens whatever the thread is at, also one that a gate keeps back.
static __always_inline void charge_tick(struct wire_sampler_stats* stats, struct open_calls* calls,
                                        const struct goroutines* goroutines, u64 since) {
    u64 own_ns = without_interruptions(bpf_ktime_get_ns() - since);
    struct wire_tick_cost* cost = tick_cost();
    struct goroutine_key key;

    if (cost)
        own_ns += cost->entry_ns;
    stats->own_ns += own_ns;
    if (calls)
        charge(calls, own_ns);
    // Old verifiers take keys from the stack and from maps only.
    key = goroutines->worked_for.key;
    charge_running_goroutine(&key, own_ns);
    key = goroutines->on_stack.key;
    charge_running_goroutine(&key, own_ns);
}

static __always_inline u32 terms_of_goroutine(const struct goroutine* goroutine, u32 gate,
                                              u64 now) {
    struct open_calls* calls = calls_of(goroutine);
    struct stack_place here = {.sp = goroutine->sp};

    return calls ? terms_of_calls(calls, gate, now, &here) : 0;
}

// Which of a gate's terms the calls fulfil that the thread is in.
__noinline int terms_of_all_calls(const struct goroutines* goroutines, u32 gate, u64 now,
                                  struct stack_place* here) {
    struct open_calls* calls =
        bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
    struct attached_spans* spans;
    u32 fulfilled = 0;

    if (calls)
        fulfilled = terms_of_calls(calls, gate, now, here);
    spans = spans_worked_for(calls);
    if (spans)
        fulfilled |= terms_of_attached_spans(spans, gate, now);
    if (!goroutines)
        return fulfilled;
    return fulfilled | terms_of_goroutine(&goroutines->worked_for, gate, now) |
           terms_of_goroutine(&goroutines->on_stack, gate, now);
}

// How many ticks the sample stands for; 0: a gate keeps it back.
static __noinline u32 ticks_passed(const struct goroutines* goroutines, u32 only, u32 raised,
                                   struct stack_place* here, u64 now) {
    struct gate_thread thread;
    u32 every;

    describe_thread(bpf_get_current_task_btf(), &thread);
    if (only != NO_GATE &&
        !gate_holds(only, &thread, terms_of_all_calls(goroutines, only, now, here)))
        return 0;
    if (raised == NO_GATE ||
        gate_holds(raised, &thread, terms_of_all_calls(goroutines, raised, now, here)))
        return 1;
    every = config.base_every;
    return is_base_tick(every) ? every : 0;
}

SEC("perf_event")
int take_sample(struct bpf_perf_event_data* ctx) {
    u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
    u32 pid = id >> 32, tid = (u32)id, zero = 0;
    bool calibrating = is_calibrating(pid, WIRE_CALIBRATE_SAMPLES);
    struct wire_sampler_stats* stats = bpf_map_lookup_elem(&sampler_stats, &zero);
    struct sampler_buffer* whole_buffer = bpf_map_lookup_elem(&sample_buffer, &zero);
    u32 only = gate_in_force(WIRE_GATE_ONLY), raised = gate_in_force(WIRE_GATE_RAISED);
    struct stack_walk* walk = bpf_map_lookup_elem(&sampler_walk, &zero);
    u32 offset, size, frames, ticks = 1;
    struct goroutines goroutines = {};
    struct open_calls* calls = NULL;
    struct stack_place here = {};
    struct sample_buffer* buffer;
    struct wire_tick_cost* cost;
    struct loop_tasks* tasks;
    struct wire_sample* sample;

    if (!stats || !whole_buffer || !walk)
        return 0;
    buffer = &whole_buffer->sample;
    here.sp = user_stack_pointer(ctx);
    walk->in_kernel = !is_user_mode(&ctx->regs);
    if (!calibrating) {
        stats->ticks++;
        // The idle task and other kernel threads have no pid of a target.
        if (!pid || !is_observed(pid, tid)) {
            stats->filtered++;
            return 0;
        }
        find_goroutines(here.sp, &goroutines);
        calls = bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
        if (only != NO_GATE || raised != NO_GATE) {
            ticks = ticks_passed(&goroutines, only, raised, &here, now);
            if (!ticks) {
                stats->gated++;
                charge_tick(stats, calls, &goroutines, now);
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

    note_open_calls(calls, &here, &goroutines, buffer);
    offset = words_of_calls(sample);
    tasks = ask_for_task(walk);
    frames = walk_user_stack(walk, false);
    note_task(tasks, walk, sample);
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
        cost = tick_cost();
        if (cost) {
            cost->own_ns = bpf_ktime_get_ns() - now;
            cost->ticks++;
        }
        return 0;
    }
    if (bpf_ringbuf_output(&events, buffer, size, wakeup_flags()))
        count_loss(WIRE_LOSS_RING_SAMPLE);
    else
        stats->samples++;
    charge_tick(stats, calls, &goroutines, now);
    return 0;
}
