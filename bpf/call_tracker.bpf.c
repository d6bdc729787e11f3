// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The call tracker: keeps, per thread, the stack of open calls of the timed functions, and counts
// each call when it ends.
//
// A call is known by the stack pointer at its entry, where its return address lies. Its own exit is
// the one at which the stack pointer is back there. A call that leaves otherwise (exception,
// longjmp) is found to be gone when, on the same stack, a probe sees the stack pointer above it:
// `unwound`.
#include "call_target.h"
#include "call_values.h"
#include "events.h"
#include "filter.h"
#include "goroutine.h"
#include "maps.h"
#include "open_calls.h"
#include "slow_tracer.h"
#include "tail_calls.h"

// Weak: the program that asks is loaded only where the kernel has it (6.13 and later).
extern bool bpf_session_is_return(void) __ksym __weak;

/* Counters, [spec][cpu]: written by the tracker, mapped by user space, which also sizes it. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct wire_call_counters);
} call_counters SEC(".maps");

/* Histograms of WIRE_SPECS_PER_BLOCK specs, [spec in block][cpu]: written and mapped likewise; user
 * space makes a block when it first uses a spec of it. */
struct histogram_block {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(u32));
    /* By size: clang 14 gives the value's type no body inside a map of maps. */
    __uint(value_size, sizeof(struct wire_call_histogram));
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, WIRE_MAX_SPECS / WIRE_SPECS_PER_BLOCK);
    __type(key, u32);
    __array(values, struct histogram_block);
} histogram_blocks SEC(".maps");

/* How many returned calls of a spec had a mark; key: the spec's cookie without its flags, and the
 * mark's bit (see mark_key). Elements are made by user space, which reads them; counted by the
 * tracker. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, WIRE_MAX_SPECS * 4);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u64);
    __type(value, struct wire_mark_count);
} mark_counts SEC(".maps");

/* By spec. Written by user space before the spec's probes are attached, read by the tracker. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_MAX_SPECS);
    __type(key, u32);
    __type(value, struct wire_go_runtime);
} go_runtimes SEC(".maps");

/* Of lines and goroutines' ends, by what wire.h says; tracker writes, user space reads. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WIRE_OTHER_HITS);
    __type(key, u32);
    __type(value, u64);
} other_hits SEC(".maps");

static __always_inline void count_other_hit(u32 index) {
    u64* hits = bpf_map_lookup_elem(&other_hits, &index);

    if (hits)
        __sync_fetch_and_add(hits, 1);
}

static __always_inline struct wire_call_counters* counters_of(u32 spec) {
    u32 index = spec * cpu_ids + bpf_get_smp_processor_id();

    return bpf_map_lookup_elem(&call_counters, &index);
}

static __always_inline struct wire_call_histogram* histogram_of(u32 spec) {
    u32 block_index = spec / WIRE_SPECS_PER_BLOCK;
    u32 index = (spec % WIRE_SPECS_PER_BLOCK) * cpu_ids + bpf_get_smp_processor_id();
    void* block = bpf_map_lookup_elem(&histogram_blocks, &block_index);

    return block ? bpf_map_lookup_elem(block, &index) : NULL;
}

static __always_inline u32 spec_index(u64 cookie) {
    return cookie & WIRE_COOKIE_SPEC_MASK;
}

static __always_inline u64 mark_key(u16 spec, u16 generation, u32 bit) {
    return (u64)generation << WIRE_COOKIE_GENERATION_SHIFT | (u64)bit << 16 | spec;
}

static __always_inline u16 generation_of(u64 cookie) {
    return cookie >> WIRE_COOKIE_GENERATION_SHIFT;
}

// The spec may become another function's at any time: whose it was is what the cookie says.
static __always_inline struct wire_spec* spec_of_cookie(u64 cookie) {
    u32 index = spec_index(cookie);
    struct wire_spec* spec = bpf_map_lookup_elem(&specs, &index);

    return spec && spec->generation == (u32)(cookie >> WIRE_COOKIE_GENERATION_SHIFT) &&
                   (spec->flags & WIRE_SPEC_ENABLED)
               ? spec
               : NULL;
}

// Whether a conditional jump will be taken, from the flags it is about to test. (Intel's manual,
// volume 1, appendix B: the low bit of the condition negates.)
static __noinline bool condition_holds(u32 condition, u64 flags) {
    bool carry = flags & 1, parity = flags & 4, zero = flags & 0x40, sign = flags & 0x80,
         overflow = flags & 0x800, holds;

    switch ((condition >> 1) & 7) {
    case 0:
        holds = overflow;
        break;
    case 1:
        holds = carry;
        break;
    case 2:
        holds = zero;
        break;
    case 3:
        holds = carry || zero;
        break;
    case 4:
        holds = sign;
        break;
    case 5:
        holds = parity;
        break;
    case 6:
        holds = sign != overflow;
        break;
    default:
        holds = zero || sign != overflow;
        break;
    }
    return holds != (condition & 1);
}

// Lowers *place to `value`, or raises it. Tries again when another thread on this CPU was quicker.
static __always_inline void note_extreme(u64* place, u64 value, bool lower) {
    u64 seen = *place;

    for (int tries = 0; tries < 4; tries++) {
        u64 found;

        if (seen && (lower ? value >= seen : value <= seen))
            return;
        found = __sync_val_compare_and_swap(place, seen, value);
        if (found == seen)
            return;
        seen = found;
    }
}

// Of a call that ends: without what sampling has added to it.
static __always_inline u64 duration_of(const struct open_calls* calls, const struct open_call* call,
                                       u64 now) {
    u64 duration = now - call->start_ns;
    u64 own_ns = calls->own_ns_at_end - call->own_ns;

    return duration > own_ns ? duration - own_ns : 1;
}

static __always_inline void fill_end(struct wire_call_end* end, const struct open_calls* calls,
                                     const struct open_call* call, u64 now) {
    fill_event(&end->event, WIRE_CALL_END, sizeof(*end));
    end->event.time_ns = now;
    end->call.start_ns = call->start_ns;
    end->call.sequence = call->sequence;
    end->call.spec = call->spec;
    end->call.generation = call->generation;
    end->duration_ns = duration_of(calls, call, now);
    end->blocked_ns = calls->blocked_ns - call->blocked_ns;
    end->runnable_ns = calls->runnable_ns - call->runnable_ns;
    end->samples = call->samples + call->waits;
    end->flags = call->wall_epoch && call->wall_epoch == config.wall_epoch ? WIRE_CALL_WATCHED : 0;
    end->marks = call->marks;
    end->label = WIRE_LABEL_NONE;
    end->label_value = 0;
}

// The end of a call in which nothing was sampled or traced concerns nobody but the histogram.
static __always_inline bool is_end_wanted(const struct open_call* call) {
    return call->samples || call->waits || call->traced_inside;
}

static __always_inline void send_end(struct open_calls* calls) {
    struct wire_call_end* end = &calls->end;
    u64 size = sizeof(*end);

    if (end->label == WIRE_LABEL_STRING)
        size += WIRE_STRING;
    end->event.size = size;
    if (bpf_ringbuf_output(&events, end, size, wakeup_flags()))
        count_loss(WIRE_LOSS_RING_CALL);
}

// Not static, like `settle` below: the verifier checks such a function once, not at every call.
__noinline int end_unwound(struct open_calls* calls, struct open_call* call, u64 now) {
    struct wire_call_counters* counters;

    if (!calls || !call || !is_current(call))
        return 0;
    counters = counters_of(call->spec);
    if (!counters)
        return 0;
    __sync_fetch_and_add(&counters->unwound, 1);
    __sync_fetch_and_add(&counters->open, -1);
    if (!is_end_wanted(call))
        return 0;
    calls->own_ns_at_end = calls->own_ns;
    fill_end(&calls->end, calls, call, now);
    calls->end.flags |= WIRE_CALL_UNWOUND;
    send_end(calls);
    return 0;
}

static __always_inline struct settlement* begin_settlement(struct open_calls* calls) {
    __builtin_memset(&calls->settlement, 0, sizeof(calls->settlement));
    return &calls->settlement;
}

static __always_inline u32 return_address_at(u64 sp) {
    u32 address = 0;

    bpf_probe_read_user(&address, sizeof(address), (void*)return_slot(sp));
    return address;
}

// Whether a call site's call came back by its return: its address is still in place below the stack
// pointer. Whoever arrives otherwise (catches an exception, longjmps) has written over it on the
// way, by a call. What cannot be read just now is taken for a return, which is what happens.
static __always_inline bool has_returned(const struct open_call* call, u64 stack_base) {
    u32 address = 0;

    return bpf_probe_read_user(&address, sizeof(address),
                               (void*)(stack_base + return_slot(call->sp))) ||
           address == call->return_address;
}

// There may be calls with the stack pointer of the one that begins and yet not gone. It may be the
// same call, which another probe on this instruction has just seen begin: not when this probe has
// one open there too, since then they are both from an earlier time. Or, at a call instruction, it
// came back to this very instruction, and the probe that ends it is yet to come.
static __always_inline bool lives_beside_entry(const struct open_call* call, struct settlement* s) {
    // What it has jumped to begins. The function itself comes from its caller again: unless several
    // jump to each other in turn, which is not told from that.
    if (call->state & CALL_HAS_JUMPED)
        return call->spec != s->entry_spec;
    // The function that jumps has it, too.
    if (s->at_jump)
        return call->spec != s->entry_spec;
    if (call->place != s->entry_place)
        return s->at_call_site && has_returned(call, s->stack_base);
    // What other probes see begin here may have begun just now.
    if (s->goes_elsewhere)
        return call->spec != s->entry_spec;
    if (call->spec == s->entry_spec)
        s->again = 1;
    return !s->again;
}

// Drops the open call at `index`, or moves it down behind those kept so far. A function of its own,
// or the verifier would try every way through every turn of the loop below.
__noinline int settle_one(struct open_calls* calls, struct settlement* s, u32 index) {
    struct open_call* call;

    if (!calls || !s)
        return 0;
    call = &calls->calls[index & (WIRE_MAX_OPEN_CALLS - 1)];
    if (s->exit_generation && call->sp == s->exit_sp && call->spec == s->exit_spec &&
        call->generation == s->exit_generation) {
        // Of two such calls the older one must have gone unnoticed.
        if (s->found)
            end_unwound(calls, &calls->ending, s->now);
        calls->ending = *call;
        s->found = 1;
        return 0;
    }
    if (!(s->entry_place && call->sp == s->entry_sp && lives_beside_entry(call, s)) &&
        call->sp < s->gone_below &&
        (call->sp == s->entry_sp || has_been_left(call, &calls->here))) {
        end_unwound(calls, call, s->now);
        return 0;
    }
    calls->calls[s->kept & (WIRE_MAX_OPEN_CALLS - 1)] = *call;
    s->kept++;
    return 0;
}

// Takes out what is gone and what the exit ends, and closes the gaps. Depth is 0 meanwhile: the
// sampler finds no calls rather than half-moved ones.
__noinline int settle(struct open_calls* calls, struct settlement* s) {
    u32 depth;

    if (!calls || !s)
        return 0;
    calls->here.sp = s->gone_below;
    calls->here.is_found = 0;
    depth = calls->depth;
    calls->depth = 0;
    barrier();
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        settle_one(calls, s, i);
    }
    store_release(&calls->depth, s->kept);
    return 0;
}

// The open calls of a thread that is observed, and NULL when it is not. Observed threads are asked
// once in a scope: the look-ups cost more than all else here.
static __always_inline struct open_calls* calls_of_observed(struct task_struct* task,
                                                            struct wire_call_counters* counters) {
    struct open_calls* calls = bpf_task_storage_get(&open_calls, task, NULL, 0);
    // Read before the target and the filters, since it changes after them.
    u32 scope = *(volatile u32*)&config.scope;

    if (calls && scope && calls->scope == scope) {
        __sync_fetch_and_add(&counters->entries, 1);
        return calls;
    }
    if (!is_observed(task->tgid, task->pid))
        return NULL;
    __sync_fetch_and_add(&counters->entries, 1);
    if (!calls)
        calls = bpf_task_storage_get(&open_calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!calls) {
        __sync_fetch_and_add(&counters->dropped, 1);
        count_loss(WIRE_LOSS_STORAGE);
        return NULL;
    }
    calls->scope = scope;
    return calls;
}

// The open calls of a goroutine that is observed now, made where there are none.
static __always_inline struct open_calls* calls_of_goroutine(const struct goroutine* owner,
                                                             const struct wire_go_runtime* runtime,
                                                             struct wire_call_counters* counters) {
    // All zero: a new value for the map.
    static const struct open_calls none;
    struct open_calls* calls = bpf_map_lookup_elem(&goroutine_calls, &owner->key);
    u32 tgid = owner->key.tgid;

    if (!is_observed(tgid, (u32)bpf_get_current_pid_tgid()))
        return NULL;
    __sync_fetch_and_add(&counters->entries, 1);
    if (!calls) {
        bpf_map_update_elem(&goroutine_calls, &owner->key, &none, BPF_NOEXIST);
        calls = bpf_map_lookup_elem(&goroutine_calls, &owner->key);
    }
    if (!calls) {
        __sync_fetch_and_add(&counters->dropped, 1);
        count_loss(WIRE_LOSS_STORAGE);
        return NULL;
    }
    if (!bpf_map_lookup_elem(&go_processes, &tgid) &&
        bpf_map_update_elem(&go_processes, &tgid, runtime, BPF_ANY))
        count_loss(WIRE_LOSS_STORAGE);
    calls->stack_base = owner->stack_end;
    calls->g = owner->key.g;
    return calls;
}

// Its start is another one than that of every call that began on this CPU.
static __always_inline u32 next_sequence(struct open_calls* calls, bool of_goroutine) {
    u32 next = calls->next_sequence++;

    return of_goroutine ? WIRE_CALL_OF_GOROUTINE | (bpf_get_smp_processor_id() & 0x7ff) << 20 |
                              (next & 0xfffff)
                        : next & ~WIRE_CALL_OF_GOROUTINE;
}

// A Go function that begins again is the call that began before; 0: it has not begun before.
__noinline int is_begun_again(struct open_calls* calls, u64 sp, u64 cookie, bool once_more) {
    u32 depth, spec = spec_index(cookie), generation = cookie >> WIRE_COOKIE_GENERATION_SHIFT;

    if (!calls)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        struct open_call* call = &calls->calls[i];

        if (i >= depth)
            break;
        if (call->sp != sp || call->spec != spec || call->generation != generation ||
            !(call->state & CALL_BEGINS_AGAIN))
            continue;
        if (!once_more)
            call->state = 0;
        return 1;
    }
    return 0;
}

// A call's open_call.sp, from the stack pointer at a probe.
static __always_inline u64 call_stack_pointer(u64 sp, bool at_call_site) {
    return at_call_site ? sp - sizeof(u64) / 2 : sp;
}

// A call through a pointer that is none of the spec's: it proves, as every entry does, that earlier
// ones from here are gone. Else its return would end them.
__noinline int pass_by(u64 cookie, u64 sp, u64 place) {
    struct open_calls* calls =
        bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
    u32 depth;

    if (!calls)
        return 0;
    depth = calls->depth;
    if (depth && calls->calls[(depth - 1) & (WIRE_MAX_OPEN_CALLS - 1)].sp <= sp) {
        struct settlement* s = begin_settlement(calls);
        s->now = bpf_ktime_get_ns();
        s->gone_below = sp + 1;
        s->entry_sp = sp;
        s->entry_spec = spec_index(cookie);
        s->entry_place = place;
        s->at_call_site = 1;
        s->goes_elsewhere = 1;

        settle(calls, s);
    }
    return 0;
}

// Whether a call that begins with a jump can be timed: the jump leaves, and where the function that
// jumps was called is known.
__noinline int begins_by_jump(struct pt_regs* ctx, u64 cookie) {
    if ((cookie & WIRE_COOKIE_CONDITIONAL) &&
        !condition_holds((cookie >> WIRE_COOKIE_CONDITION_SHIFT) & 15, ctx->eflags))
        return 0;
    return returns_to_known_place(ctx, cookie);
}

// `in_go`: a Go function's probe. One that has no room on its stack for what it does (which the
// condition in the cookie of its entry tells) begins again on a larger one.
static __always_inline int enter(struct pt_regs* ctx, bool in_go) {
    u64 cookie = bpf_get_attach_cookie(ctx);
    bool at_call_site = cookie & WIRE_COOKIE_CALL_SITE;
    u64 sp = call_stack_pointer(PT_REGS_SP(ctx), at_call_site);
    u32 place = PT_REGS_IP(ctx);
    struct wire_spec* spec = spec_of_cookie(cookie);
    bool begins_again = false;
    struct goroutine owner;
    struct wire_call_counters* counters;
    struct open_calls* calls;
    struct open_call* call;
    u32 depth;

    if (!spec || !(cookie & WIRE_COOKIE_SECOND) != !(spec->flags & WIRE_SPEC_SECOND))
        return 1;
    counters = counters_of(spec_index(cookie));
    if (!counters)
        return 1;
    __sync_fetch_and_add(&counters->entry_hits, 1);
    if ((cookie & WIRE_COOKIE_POINTER) && !calls_timed_function(ctx, cookie)) {
        pass_by(cookie, sp, place);
        return 1;
    }
    if (!in_go && (cookie & WIRE_COOKIE_TAIL) && !begins_by_jump(ctx, cookie))
        return 1;
    if (in_go) {
        u32 index = spec_index(cookie);
        const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_runtimes, &index);

        if (!runtime || !find_stack_owner(runtime, PT_REGS_SP(ctx), &owner))
            return 1;
        sp = call_stack_pointer(owner.sp, at_call_site);
        begins_again = (cookie & WIRE_COOKIE_CONDITIONAL) &&
                       condition_holds((cookie >> WIRE_COOKIE_CONDITION_SHIFT) & 15, ctx->eflags);
        calls = bpf_map_lookup_elem(&goroutine_calls, &owner.key);
        if (calls && is_begun_again(calls, sp, cookie, begins_again))
            return 0;
        // Of a call that is not kept it is not noted that it has begun.
        if (begins_again && (spec->program || (calls && calls->depth >= WIRE_MAX_OPEN_CALLS)))
            return 0;
        calls = calls_of_goroutine(&owner, runtime, counters);
    } else {
        // A task's fields cost less than another helper's call.
        calls = calls_of_observed(bpf_get_current_task_btf(), counters);
    }
    if (!calls)
        return 1;
    depth = calls->depth;
    if (depth && calls->calls[(depth - 1) & (WIRE_MAX_OPEN_CALLS - 1)].sp <= sp) {
        struct settlement* s = begin_settlement(calls);
        s->now = bpf_ktime_get_ns();
        s->gone_below = sp + 1;
        s->entry_sp = sp;
        s->entry_spec = spec_index(cookie);
        s->entry_place = place;
        s->at_call_site = at_call_site;
        s->at_jump = !in_go && (cookie & WIRE_COOKIE_TAIL);
        s->stack_base = calls->stack_base;

        settle(calls, s);
        depth = calls->depth;
    }
    if (depth >= WIRE_MAX_OPEN_CALLS) {
        __sync_fetch_and_add(&counters->dropped, 1);
        count_loss(WIRE_LOSS_DEPTH);
        return 1;
    }
    call = &calls->calls[depth & (WIRE_MAX_OPEN_CALLS - 1)];
    call->sp = sp;
    call->sequence = next_sequence(calls, in_go);
    call->spec = spec_index(cookie);
    call->generation = generation_of(cookie);
    call->samples = 0;
    call->waits = 0;
    call->marks = 0;
    call->value_slot = NO_VALUE_SLOT;
    call->traced_inside = 0;
    call->state = begins_again ? CALL_BEGINS_AGAIN : 0;
    if (!in_go && (cookie & WIRE_COOKIE_TAIL))
        call->state = CALL_ENDS_IN_CALLER | CALL_HAS_JUMPED;
    else if (!in_go && (spec->flags & WIRE_SPEC_TAILS) && returns_to_known_place(ctx, cookie))
        call->state = CALL_ENDS_IN_CALLER;
    if (spec->program) {
        // Where the return address will lie, or lies: above it was the stack pointer.
        u64 cfa = at_call_site ? PT_REGS_SP(ctx) : PT_REGS_SP(ctx) + sizeof(u64);

        if (begin_values(ctx, calls, call, cfa) & VERDICT_FILTERED) {
            __sync_fetch_and_add(&counters->filtered, 1);
            return 1;
        }
    }
    __sync_fetch_and_add(&counters->open, 1);
    // While a goroutine waits, no thread does: it is not known how long it was off the CPU.
    call->wall_epoch = in_go ? 0 : config.wall_epoch;
    call->blocked_ns = calls->blocked_ns;
    call->runnable_ns = calls->runnable_ns;
    call->longest_wait.blocked_ns = 0;
    call->place = place;
    if (at_call_site)
        call->return_address = place + ((cookie >> WIRE_COOKIE_CALL_LENGTH_SHIFT) & 15);
    else
        call->return_address = in_go || is_on_own_stack(calls, sp) ? 0 : return_address_at(sp);
    barrier();
    call->start_ns = bpf_ktime_get_ns();
    // Behind it: rather too little is taken out of the duration than too much.
    call->own_ns = *(volatile u64*)&calls->own_ns;
    store_release(&calls->depth, depth + 1);
    return 0;
}

static __always_inline void count_return(struct wire_call_counters* counters,
                                         struct wire_call_histogram* histogram, u64 duration) {
    u32 bucket = wire_histogram_bucket(duration);

    __sync_fetch_and_add(&counters->open, -1);
    __sync_fetch_and_add(&counters->returns, 1);
    __sync_fetch_and_add(&counters->sum_ns, duration);
    if (bucket < WIRE_HIST_BUCKETS)
        __sync_fetch_and_add(&histogram->buckets[bucket], 1);
    if (duration < counters->min_ns || !counters->min_ns)
        note_extreme(&counters->min_ns, duration ? duration : 1, true);
    if (duration > counters->max_ns)
        note_extreme(&counters->max_ns, duration, false);
}

enum told {
    TOLD_SLOW = 1,
    TOLD_IN_CALLER = 2,
    TOLD_WITH_VALUES = 4,
    TOLD_JUDGED = 8, // its values have been read, and the label is in calls->end
};

// A returned call of which something is told.
static __noinline int tell_end(struct pt_regs* ctx, struct open_calls* calls, u64 now, u32 how) {
    struct open_call* call = &calls->ending;
    struct wire_call_end* end = &calls->end;
    struct wire_values* values = NULL;
    u64 label_value;
    u32 label;

    if (how & TOLD_WITH_VALUES) {
        if (!(how & TOLD_JUDGED) && (end_values(ctx, call, end) & VERDICT_NOT_TRACED))
            how &= ~TOLD_SLOW;
        values = values_of(call);
    }
    label = end->label;
    label_value = end->label_value;
    fill_end(end, calls, call, now);
    if (values && label) {
        end->label = label;
        end->label_value = label_value;
        if (label == WIRE_LABEL_STRING)
            __builtin_memcpy(calls->label, values->string[label_value & (WIRE_MAX_STRINGS - 1)],
                             WIRE_STRING);
    }
    if (how & TOLD_SLOW)
        end->flags |= WIRE_CALL_SLOW;
    if (is_end_wanted(call))
        send_end(calls);
    if (!(how & TOLD_SLOW))
        return 0;
    trace_slow_call(calls, values, how & TOLD_IN_CALLER);
    return 0;
}

// What was sampled in a call that does not count must not be taken for part of one that goes on.
static __noinline int tell_filtered(struct open_calls* calls, u64 now) {
    if (!is_end_wanted(&calls->ending))
        return 0;
    fill_end(&calls->end, calls, &calls->ending, now);
    calls->end.flags |= WIRE_CALL_FILTERED;
    send_end(calls);
    return 0;
}

// How many calls had each of the marks that are counted, and how many had not.
__noinline int count_mark(const struct open_call* call, u32 bit) {
    u64 key = mark_key(call ? call->spec : 0, call ? call->generation : 0, bit);
    struct wire_mark_count* count = bpf_map_lookup_elem(&mark_counts, &key);

    if (!call || !count || call->start_ns < count->since_ns)
        return 0;
    if (call->marks >> (bit & (WIRE_MAX_MARKS - 1)) & 1)
        __sync_fetch_and_add(&count->taken, 1);
    else
        __sync_fetch_and_add(&count->not_taken, 1);
    return 0;
}

__noinline int count_marks(const struct open_call* call, u32 counted) {
    if (!call)
        return 0;
    for (u32 bit = 0; bit < WIRE_MAX_MARKS; bit++) {
        if (!(counted >> bit))
            break;
        if (counted >> bit & 1)
            count_mark(call, bit);
    }
    return 0;
}

// Takes the call that ends at `sp` out of the open ones, to be `ending`.
static __always_inline bool take_out(struct open_calls* calls, u64 cookie, u64 sp, u64 now) {
    u32 depth = calls->depth;
    struct open_call* top;

    if (!depth)
        return false;
    top = &calls->calls[(depth - 1) & (WIRE_MAX_OPEN_CALLS - 1)];
    if (top->sp == sp && top->spec == spec_index(cookie) &&
        top->generation == generation_of(cookie)) {
        calls->depth = depth - 1;
        barrier();
        calls->ending = *top;
        return true;
    } else {
        struct settlement* s = begin_settlement(calls);
        s->now = now;
        s->gone_below = sp;
        s->exit_sp = sp;
        s->exit_spec = spec_index(cookie);
        s->exit_generation = generation_of(cookie);

        settle(calls, s);
        // Not found: an exit of a call that was dropped or filtered, or began before us.
        return s->found;
    }
}

// `sp` as in open_call. `in_caller`: the function has returned already. `counters` are looked up
// where they are null.
static __always_inline int leave_call(struct pt_regs* ctx, struct open_calls* calls,
                                      const struct wire_spec* spec, u64 cookie, u64 sp,
                                      bool in_caller, struct wire_call_counters* counters) {
    u64 now = bpf_ktime_get_ns();
    struct wire_call_histogram* histogram;
    struct open_call* call;
    u32 verdict = 0, how = in_caller ? TOLD_IN_CALLER : 0;
    u64 duration, own_ns, slow_ns;

    // What comes later is in no duration.
    own_ns = *(volatile u64*)&calls->own_ns;
    if (!take_out(calls, cookie, sp, now))
        return 0;
    calls->own_ns_at_end = own_ns;
    call = &calls->ending;
    if ((cookie & WIRE_COOKIE_CALL_SITE) && !has_returned(call, calls->stack_base)) {
        end_unwound(calls, call, now);
        return 0;
    }
    if (!counters)
        counters = counters_of(spec_index(cookie));
    histogram = histogram_of(spec_index(cookie));
    if (!counters || !histogram)
        return 0;
    if (spec->program) {
        how |= TOLD_WITH_VALUES;
        if (is_judged_at_end(call)) {
            verdict = end_values(ctx, call, &calls->end);
            how |= TOLD_JUDGED;
        }
        if (verdict & VERDICT_FILTERED) {
            __sync_fetch_and_add(&counters->open, -1);
            __sync_fetch_and_add(&counters->filtered, 1);
            return tell_filtered(calls, now);
        }
    }
    duration = duration_of(calls, call, now);
    count_return(counters, histogram, duration);
    if (spec->counted_marks)
        count_marks(call, spec->counted_marks);
    slow_ns = *(volatile u64*)&spec->slow_ns; // which an edit may change at any time
    if ((spec->flags & WIRE_SPEC_TRACE_SLOW) && duration > slow_ns &&
        !(verdict & VERDICT_NOT_TRACED)) {
        calls->threshold_ns = slow_ns;
        how |= TOLD_SLOW;
    }
    // Of most calls there is nothing to tell: nothing is put together for them.
    if (!(how & TOLD_SLOW) && !is_end_wanted(call))
        return 0;
    return tell_end(ctx, calls, now, how);
}

// Whether the instruction is an exit now: a conditional jump is one when it jumps.
static __always_inline bool is_leaving(struct pt_regs* ctx, u64 cookie) {
    return !(cookie & WIRE_COOKIE_CONDITIONAL) ||
           condition_holds((cookie >> WIRE_COOKIE_CONDITION_SHIFT) & 15, ctx->eflags);
}

// Whether the call at `sp` ends at this probe of WIRE_COOKIE_TAIL: not at a jump when its end will
// be seen in the caller, and only then in the caller.
__noinline int ends_at_tail(struct open_calls* calls, u64 cookie, u64 sp, bool in_caller) {
    u32 depth, spec = spec_index(cookie), generation = cookie >> WIRE_COOKIE_GENERATION_SHIFT;

    if (!calls)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        struct open_call* call = &calls->calls[i];

        if (i >= depth)
            break;
        if (call->sp != sp || call->spec != spec || call->generation != generation)
            continue;
        if (in_caller)
            return (call->state & CALL_HAS_JUMPED) != 0;
        if (!(call->state & CALL_ENDS_IN_CALLER))
            return 1;
        call->state |= CALL_HAS_JUMPED;
        return 0;
    }
    return !in_caller; // nothing is lost: there is no such call
}

static __always_inline int leave(struct pt_regs* ctx, u64 cookie, u64 sp, bool in_caller) {
    struct wire_spec* spec = spec_of_cookie(cookie);
    struct wire_call_counters* counters;
    struct open_calls* calls;

    if (!spec)
        return 0;
    counters = counters_of(spec_index(cookie));
    if (!counters)
        return 0;
    __sync_fetch_and_add(&counters->exit_hits, 1);
    if (!is_leaving(ctx, cookie))
        return 0;
    calls = bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
    if (calls && (cookie & WIRE_COOKIE_TAIL) && !ends_at_tail(calls, cookie, sp, in_caller))
        return 0;
    return calls ? leave_call(ctx, calls, spec, cookie, sp, in_caller, counters) : 0;
}

// A goroutine that has no open calls any more. A function of its own: where it is called, the stack
// is full on Linux 6.1.
__noinline int forget_goroutine(struct open_calls* calls) {
    struct goroutine_key key = {.tgid = bpf_get_current_pid_tgid() >> 32};

    if (!calls)
        return 0;
    key.g = calls->g;
    bpf_map_delete_elem(&goroutine_calls, &key);
    return 0;
}

// A function of its own, which is over before the stack is needed: see forget_goroutine().
__noinline int count_exit_hit(u32 spec) {
    struct wire_call_counters* counters = counters_of(spec);

    if (counters)
        __sync_fetch_and_add(&counters->exit_hits, 1);
    return 0;
}

static __always_inline int leave_in_go(struct pt_regs* ctx, u64 cookie, bool at_call_site) {
    struct wire_spec* spec = spec_of_cookie(cookie);
    struct open_calls* calls = NULL;
    u64 sp = 0;

    if (!spec)
        return 0;
    count_exit_hit(spec_index(cookie));
    if (!is_leaving(ctx, cookie))
        return 0;
    {
        u32 index = spec_index(cookie);
        const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_runtimes, &index);
        struct goroutine owner;

        if (!runtime || !find_stack_owner(runtime, PT_REGS_SP(ctx), &owner))
            return 0;
        calls = bpf_map_lookup_elem(&goroutine_calls, &owner.key);
        if (!calls)
            return 0;
        calls->stack_base = owner.stack_end;
        sp = owner.sp;
    }
    leave_call(ctx, calls, spec, cookie, call_stack_pointer(sp, at_call_site), at_call_site, NULL);
    if (!calls->depth)
        forget_goroutine(calls);
    return 0;
}

SEC("uprobe")
int call_entry(struct pt_regs* ctx) {
    enter(ctx, false);
    return 0;
}

SEC("uprobe")
int call_exit(struct pt_regs* ctx) {
    u64 cookie = bpf_get_attach_cookie(ctx);
    bool at_call_site = cookie & WIRE_COOKIE_CALL_SITE;

    return leave(ctx, cookie, call_stack_pointer(PT_REGS_SP(ctx), at_call_site), at_call_site);
}

SEC("uprobe")
int call_return(struct pt_regs* ctx) {
    return leave(ctx, bpf_get_attach_cookie(ctx), PT_REGS_SP(ctx) - sizeof(u64), true);
}

// Entry and return in one: a return probe is set only when the entry answers 0.
SEC("uprobe")
int call_session(struct pt_regs* ctx) {
    if (bpf_session_is_return())
        return leave(ctx, bpf_get_attach_cookie(ctx), PT_REGS_SP(ctx) - sizeof(u64), true);
    return enter(ctx, false);
}

SEC("uprobe")
int go_call_entry(struct pt_regs* ctx) {
    enter(ctx, true);
    return 0;
}

SEC("uprobe")
int go_call_exit(struct pt_regs* ctx) {
    u64 cookie = bpf_get_attach_cookie(ctx);

    return leave_in_go(ctx, cookie, cookie & WIRE_COOKIE_CALL_SITE);
}

// The execution of a line, which is a fact about all calls that it happens in.
__noinline int note_line_in(struct open_call* call, struct stack_place* here, u32 marks) {
    if (call && here && (here->sp <= call->sp || !has_been_left(call, here)))
        call->marks |= marks;
    return 0;
}

__noinline int note_line_in_all(struct open_calls* calls, struct stack_place* here, u32 marks) {
    u32 depth;

    if (!calls)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        note_line_in(&calls->calls[i], here, marks);
    }
    return 0;
}

static __always_inline void note_line_of(const struct goroutine* goroutine, u32 marks) {
    struct open_calls* calls =
        goroutine->key.g ? bpf_map_lookup_elem(&goroutine_calls, &goroutine->key) : NULL;
    struct stack_place here = {.sp = goroutine->sp};

    if (calls)
        note_line_in_all(calls, &here, marks);
}

SEC("uprobe")
int line_reached(struct pt_regs* ctx) {
    struct open_calls* calls =
        bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
    u32 marks = 1u << (bpf_get_attach_cookie(ctx) & (WIRE_MAX_MARKS - 1));
    struct stack_place here = {.sp = PT_REGS_SP(ctx)};
    struct goroutines goroutines;

    count_other_hit(bpf_get_attach_cookie(ctx) & (WIRE_MAX_MARKS - 1));
    if (calls)
        note_line_in_all(calls, &here, marks);
    if (find_goroutines(PT_REGS_SP(ctx), &goroutines)) {
        note_line_of(&goroutines.worked_for, marks);
        note_line_of(&goroutines.on_stack, marks);
    }
    return 0;
}

__noinline int leave_all_of(struct open_calls* calls) {
    u64 now;
    u32 depth;

    if (!calls)
        return 0;
    now = bpf_ktime_get_ns();
    depth = calls->depth;
    calls->depth = 0;
    calls->own_stack_end = 0; // a new program has a new one
    barrier();
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        end_unwound(calls, &calls->calls[i], now);
    }
    return 0;
}

// Behind the last instruction of a goroutine, whose g will be another one's: runtime.goexit0, whose
// argument it is.
SEC("uprobe")
int goroutine_end(struct pt_regs* ctx) {
    struct goroutine_key key = {.g = ctx->rax, .tgid = bpf_get_current_pid_tgid() >> 32};
    struct open_calls* calls = bpf_map_lookup_elem(&goroutine_calls, &key);

    count_other_hit(WIRE_HITS_GOROUTINE_ENDS);
    if (!calls)
        return 0;
    leave_all_of(calls);
    bpf_map_delete_elem(&goroutine_calls, &key);
    return 0;
}

static long leave_of_process(void* map, struct goroutine_key* key, struct open_calls* calls,
                             u32* tgid) {
    if (key->tgid != *tgid)
        return 0;
    leave_all_of(calls);
    bpf_map_delete_elem(map, key);
    return 0;
}

// The process ends, or runs another program.
static __always_inline void leave_goroutines(void) {
    u32 tgid = bpf_get_current_pid_tgid() >> 32;

    if (!bpf_map_lookup_elem(&go_processes, &tgid))
        return;
    bpf_for_each_map_elem(&goroutine_calls, leave_of_process, &tgid, 0);
    bpf_map_delete_elem(&go_processes, &tgid);
}

// A thread that ends, or runs another program, leaves its calls.
static __always_inline void leave_all(void) {
    struct open_calls* calls =
        bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);

    if (calls)
        leave_all_of(calls);
}

SEC("raw_tp/sched_process_exit")
int thread_exit(struct bpf_raw_tracepoint_args* ctx) {
    struct task_struct* task = bpf_get_current_task_btf();

    leave_all();
    // The kernel has taken this thread off the count already.
    if (BPF_CORE_READ(task, signal, live.counter) <= 0)
        leave_goroutines();
    return 0;
}

SEC("raw_tp/sched_process_exec")
int thread_exec(struct bpf_raw_tracepoint_args* ctx) {
    leave_all();
    leave_goroutines();
    return 0;
}
