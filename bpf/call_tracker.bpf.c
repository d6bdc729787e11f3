// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The call tracker: keeps, per thread, the stack of open calls of the timed functions, and counts
// each call when it ends.
//
// A call is known by the stack pointer at its entry, which arch/ says more of. Its own exit
// is the one at which the stack pointer is back there. A call that leaves otherwise (exception,
// longjmp) is found to be gone when, on the same stack, a probe sees the stack pointer above it:
// `unwound`.
#include "call_entry.h"
#include "call_exit.h"
#include "exchange_sockets.h"
#include "place_hits.h"
#include "span_sweep.h"
#include "tracepoint_hit.h"

// Weak: the program that asks is loaded only where the kernel has it (6.13 and later).
extern bool bpf_session_is_return(void) __ksym __weak;

SEC("uprobe")
int call_entry(struct pt_regs* ctx) {
    enter(ctx, false, false);
    return 0;
}

// A function of its own: its stack is given back before the call ends.
__noinline int begin_short_call(struct pt_regs* ctx) {
    return enter(ctx, false, true);
}

// At an entry that is a jump out of the function: the call begins and ends there, and takes no
// time.
SEC("uprobe")
int short_call(struct pt_regs* ctx) {
    u64 cookie = bpf_get_attach_cookie(ctx);
    struct wire_spec* spec = spec_of_cookie(cookie);
    struct open_calls* calls;
    u32 depth;

    if (!spec || begin_short_call(ctx))
        return 0;
    calls = thread_storage(&open_calls, bpf_get_current_task_btf(), 0);
    depth = calls ? calls->depth : 0;
    if (!calls || !depth)
        return 0;
    return leave_call(ctx, calls, spec, cookie, call_stack_pointer(PT_REGS_SP(ctx), false), false,
                      NULL, false, calls->calls[(depth - 1) & (WIRE_MAX_OPEN_CALLS - 1)].start_ns);
}

SEC("uprobe")
int call_exit(struct pt_regs* ctx) {
    u64 cookie = bpf_get_attach_cookie(ctx);
    bool at_call_site = cookie & WIRE_COOKIE_CALL_SITE;

    return leave(ctx, cookie, call_stack_pointer(exit_stack_pointer(ctx, cookie), at_call_site),
                 at_call_site);
}

SEC("uprobe")
int call_return(struct pt_regs* ctx) {
    return leave(ctx, bpf_get_attach_cookie(ctx), returned_stack_pointer(ctx), true);
}

// Entry and return in one: a return probe is set only when the entry answers 0.
SEC("uprobe")
int call_session(struct pt_regs* ctx) {
    if (bpf_session_is_return())
        return leave(ctx, bpf_get_attach_cookie(ctx), returned_stack_pointer(ctx), true);
    return enter(ctx, false, false);
}

SEC("uprobe")
int go_call_entry(struct pt_regs* ctx) {
    enter(ctx, true, false);
    return 0;
}

SEC("uprobe")
int go_call_exit(struct pt_regs* ctx) {
    u64 cookie = bpf_get_attach_cookie(ctx);

    return leave_in_go(ctx, cookie, cookie & WIRE_COOKIE_CALL_SITE);
}

// A place that is counted, and traced, or a point of a span: a USDT probe, a line, where calls
// begin. Its spec's entries are how often it is reached, its returns what came of that: all for
// which the predicate holds.
SEC("uprobe")
int span_point(struct pt_regs* ctx) {
    u64 cookie = bpf_get_attach_cookie(ctx), key = 0;
    struct wire_spec* spec = spec_of_cookie(cookie);
    struct wire_call_counters* counters;
    struct open_calls* calls;

    if (!spec)
        return 0;
    counters = counters_of(spec_index(cookie));
    if (!counters)
        return 0;
    __sync_fetch_and_add(&counters->entry_hits, 1);
    if ((cookie & WIRE_COOKIE_POINTER) && !calls_timed_function(ctx, cookie))
        return 0;
    // A jump that does not jump, or a function of Go's that begins again on a larger stack.
    if (cookie & WIRE_COOKIE_TAIL
            ? !begins_by_jump(ctx, cookie)
            : (cookie & WIRE_COOKIE_CONDITIONAL) && begins_by_jump(ctx, cookie))
        return 0;
    calls = calls_of_observed(bpf_get_current_task_btf(), counters);
    if (!calls)
        return 0;
    if (spec->program) {
        struct open_call* call = &calls->ending;

        call->sequence = 0;
        call->spec = spec_index(cookie);
        call->generation = generation_of(cookie);
        call->value_slot = NO_VALUE_SLOT;
        if (begin_values(ctx, calls, call, frame_address(ctx, cookie & WIRE_COOKIE_CALL_SITE)) &
            VERDICT_FILTERED) {
            __sync_fetch_and_add(&counters->filtered, 1);
            return 0;
        }
        if (spec->point.flags & WIRE_SPAN_KEYED) {
            int found = read_key(call, &key);

            if (found != KEY_KNOWN) {
                __sync_fetch_and_add(&counters->filtered, 1);
                if (found == KEY_UNREADABLE)
                    count_loss(WIRE_LOSS_SPAN_KEY);
                return 0;
            }
        }
    }
    __sync_fetch_and_add(&counters->returns, 1);
    if (spec->point.role != WIRE_SPAN_NONE)
        reach_point_of_span(calls, spec_index(cookie), spec, key);
    else if (spec->flags & WIRE_SPEC_TRACE_SLOW)
        trace_hit(ctx, calls, cookie, spec->program);
    return 0;
}

// As span_point, at a tracepoint of the kernel's. To one tracepoint the kernel attaches one program
// once, so there are several for several probes there.
#define TRACEPOINT_PROGRAM(number)                                                                 \
    SEC("tracepoint")                                                                              \
    int tracepoint_hit_##number(void* record) {                                                    \
        return hit_tracepoint(record);                                                             \
    }

TRACEPOINT_PROGRAM(1)
TRACEPOINT_PROGRAM(2)
TRACEPOINT_PROGRAM(3)
TRACEPOINT_PROGRAM(4)
TRACEPOINT_PROGRAM(5)
TRACEPOINT_PROGRAM(6)

// Ends spans whose time is up, those of a process that ended (the first argument) or ran another
// program before a time (the second), and those of specs that are gone. Run by user space.
SEC("raw_tp")
int sweep_spans(struct bpf_raw_tracepoint_args* ctx) {
    struct span_sweep sweep = {
        .now = bpf_ktime_get_ns(), .tgid = ctx->args[0], .before_ns = ctx->args[1]};

    bpf_for_each_map_elem(&spans, sweep_span, &sweep, 0);
    return 0;
}

// What happens on sockets. Attached while there are exchange spans.
SEC("tp_btf/sock_recv_length")
int exchange_receive(u64* ctx) {
    int received = ctx[1], flags = ctx[2];

    if (received > 0 && !(flags & NO_DATA))
        receive((void*)ctx[0], received);
    else if (!received) {
        receive_end((void*)ctx[0]);
        hear_upstream((void*)ctx[0]);
    }
    return 0;
}

SEC("tp_btf/sock_send_length")
int exchange_send(u64* ctx) {
    int sent = ctx[1];

    if (sent > 0)
        send((void*)ctx[0], sent);
    return 0;
}

SEC("tp_btf/sk_data_ready")
int exchange_arrival(u64* ctx) {
    arrive((void*)ctx[0]);
    return 0;
}

SEC("tp_btf/inet_sock_set_state")
int exchange_state(u64* ctx) {
    change_state((void*)ctx[0], ctx[1], ctx[2]);
    return 0;
}

// A thread waits. One that has several exchanges open at once works for none while it waits for
// whatever comes next.
SEC("tp_btf/sched_switch")
int exchange_wait(u64* ctx) {
    bool preempted = ctx[0];
    struct task_struct* prev = (void*)ctx[1];
    const struct pt_regs___kernel* regs;
    struct open_calls* calls;
    bool for_events;

    if (!prev->pid || preempted || !prev->__state)
        return 0;
    calls = bpf_task_storage_get(&open_calls, prev, NULL, 0);
    if (!calls || !is_in_turn(calls))
        return 0;
    regs = (void*)bpf_task_pt_regs(prev);
    for_events = waits_for_events(regs);
    if (for_events)
        calls->turn = 0;
    if (for_events && calls->interleaves)
        leave_exchanges(calls, bpf_ktime_get_ns());
    else
        note_idle_exchanges(calls, receives(regs) ? syscall_argument(regs) : NO_FD, for_events);
    return 0;
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
    struct open_calls* calls = thread_storage(&open_calls, bpf_get_current_task_btf(), 0);
    u32 marks = 1u << (bpf_get_attach_cookie(ctx) & (WIRE_MAX_MARKS - 1));
    struct stack_place here = {.sp = PT_REGS_SP(ctx)};
    struct goroutines goroutines;
    struct attached_spans* spans;

    count_other_hit(bpf_get_attach_cookie(ctx) & (WIRE_MAX_MARKS - 1));
    if (calls)
        note_line_in_all(calls, &here, marks);
    spans = spans_worked_for(calls);
    if (spans)
        mark_attached_spans(spans, marks);
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
    if (calls->attached) {
        keep_tracepoints_out(calls);
        detach_all_spans(calls, now);
        let_tracepoints_in(calls);
    }
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
    struct goroutine_key key = {.g = go_argument(ctx), .tgid = bpf_get_current_pid_tgid() >> 32};
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

static long forget_work_of_process(void* map, struct goroutine_key* key,
                                   struct goroutine_work* work, u32* tgid) {
    if (key->tgid == *tgid)
        bpf_map_delete_elem(map, key);
    return 0;
}

// The process ends, or runs another program.
static __always_inline void leave_goroutines(void) {
    u32 tgid = bpf_get_current_pid_tgid() >> 32;

    if (!bpf_map_lookup_elem(&go_processes, &tgid))
        return;
    bpf_for_each_map_elem(&goroutine_calls, leave_of_process, &tgid, 0);
    bpf_for_each_map_elem(&goroutine_spans, forget_work_of_process, &tgid, 0);
    bpf_map_delete_elem(&go_processes, &tgid);
}

// A thread that ends, or runs another program, leaves its calls.
static __always_inline void leave_all(void) {
    struct open_calls* calls = thread_storage(&open_calls, bpf_get_current_task_btf(), 0);

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
