// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_events.h"

#include "bpf/go_runtime.h"
#include "loader/kernel/wait_text.h"

#include <cstring>

namespace auger {

std::optional<CallKey> LiveEvents::key_of(const wire_call& call) const {
    auto spec = functions_.find_spec(call.spec, call.generation);
    if (!spec)
        return {};
    return CallKey{call.start_ns, call.sequence, *spec};
}

namespace {

// Values beyond these share a label: they come from the target, and there may be any number.
constexpr size_t max_labels = 10'000;
constexpr const char* other_labels = "(other values)";

SampleKind kind_of(const wire_sample& sample) {
    switch (sample.sample_kind) {
    case WIRE_SAMPLE_BLOCKED:
        return SampleKind::blocked;
    case WIRE_SAMPLE_RUNNABLE:
        return SampleKind::runnable;
    default:
        return SampleKind::cpu;
    }
}

// What a goroutine waited for, in place of a system call.
std::optional<uint64_t> goroutine_wait(const wire_sample& sample) {
    if (sample.syscall == WIRE_SYSCALL_QUEUED)
        return LiveNames::queued_goroutine;
    const int reason = sample.syscall - WIRE_SYSCALL_PARKED;
    if (reason >= 0 && reason < WIRE_GO_REASONS)
        return LiveNames::first_parked_goroutine + static_cast<uint64_t>(reason);
    return std::nullopt;
}

} // namespace

void LiveEvents::note_keys(std::span<const wire_call> calls) {
    calls_.clear();
    for (const wire_call& call : calls) {
        if (auto key = key_of(call))
            calls_.push_back(*key);
    }
}

void LiveEvents::on_sample(const WireSampleView& sample) {
    const wire_sample& head = *sample.head;
    names_.next_sample();
    note_keys(sample.calls);
    SampleEvent event;
    event.time_ns = head.event.time_ns;
    event.weight_ns = head.weight_ns;
    event.thread =
        names_.thread(head.event.pid, head.event.tid,
                      goroutine_wait(head) ? std::string_view("goroutine") : wire_comm(head.comm));
    auto pid = static_cast<pid_t>(head.event.pid);
    event.kind = kind_of(head);
    // A preempted thread waits where it was running. A blocked one waits in the kernel.
    if (const auto of_goroutine = goroutine_wait(head)) {
        event.stack =
            names_.waiting_stack(pid, head.event.time_ns, *of_goroutine, sample.user_frames);
    } else if (head.syscall >= 0 ? event.kind != SampleKind::cpu
                                 : event.kind == SampleKind::blocked) {
        std::optional<LiveNames::Waker> waker;
        if (sample.waker)
            waker = {static_cast<pid_t>(sample.waker->pid), wire_comm(sample.waker->comm),
                     sample.waker_frames};
        event.stack = names_.waiting_stack(pid, head.event.time_ns,
                                           head.syscall >= 0 ? static_cast<uint64_t>(head.syscall)
                                                             : LiveNames::no_syscall,
                                           sample.user_frames, waker);
    } else {
        event.stack =
            names_.stack(pid, head.event.time_ns, sample.kernel_frames, sample.user_frames);
    }
    event.cpu = head.cpu;
    event.calls = calls_;
    if (head.task)
        task_samples_.keep(head.event.pid, head.task, event);
    else
        sink_.on_sample(event);
}

void LiveEvents::on_task_send(const WireTaskSendView& send) {
    std::vector<TaskSamples::Exchange> exchanges;
    for (const wire_task_exchange& exchange : send.exchanges) {
        if (const auto key = key_of(exchange.call))
            exchanges.push_back({*key, exchange.received_ns});
    }
    task_samples_.on_send(send.head->event.pid, send.head->task, send.head->event.time_ns,
                          exchanges);
}

bool LiveEvents::on_task_wait(uint32_t pid, uint64_t coroutine, TaskSamples::Wait wait,
                              bool may_answer) {
    if (may_answer)
        return task_samples_.keep_wait(pid, coroutine, std::move(wait));
    task_samples_.hand_on_wait(pid, std::move(wait));
    return true;
}

bool LiveEvents::complete_wait(uint32_t pid, TaskSamples::Wait& wait) {
    SampleEvent& sample = wait.sample;
    if (!gates_.passes(WIRE_GATE_ONLY, static_cast<pid_t>(pid), sample.calls, sample.time_ns))
        return false;
    names_.next_sample();
    sample.thread = names_.thread(pid, 0, "task");
    sample.stack = names_.stack_of(wait.stack);
    return true;
}

CallEndEvent LiveEvents::translate(const wire_call_end& end, const CallKey& key, ThreadId thread) {
    CallEndEvent event;
    event.time_ns = end.event.time_ns;
    event.duration_ns = end.duration_ns;
    event.thread = thread;
    event.call = key;
    event.samples = end.samples;
    event.unwound = end.flags & WIRE_CALL_UNWOUND;
    event.filtered = end.flags & WIRE_CALL_FILTERED;
    event.marks = end.marks;
    if (end.flags & WIRE_CALL_WATCHED)
        event.waits = {end.blocked_ns, end.runnable_ns};
    event.parked_ns = end.parked_ns;
    event.queued_ns = end.queued_ns;
    return event;
}

std::optional<LabelId> LiveEvents::label_of(const wire_call_end& end, const CallKey& key,
                                            std::string_view text) {
    const CallProgram* program = functions_.newest_program_of(key.spec);
    if (end.label == WIRE_LABEL_NONE || !program)
        return {};
    std::string label = format_label(*program, end.label, end.label_value, text);
    auto found = labels_.find(label);
    if (found == labels_.end() && labels_.size() >= max_labels) {
        label = other_labels;
        found = labels_.find(label);
    }
    if (found != labels_.end())
        return found->second;
    LabelId id{static_cast<uint32_t>(labels_.size())};
    sink_.on_label(id, label);
    labels_.emplace(std::move(label), id);
    return id;
}

void LiveEvents::on_call_end(const WireCallEndView& end) {
    const wire_call_end& head = *end.head;
    auto key = key_of(head.call);
    if (!key)
        return;
    CallEndEvent event = translate(head, *key, names_.thread(head.event.pid, head.event.tid));
    event.label = label_of(head, *key, end.label);
    task_samples_.on_call_end(event);
}

std::vector<CallValue> LiveEvents::values_of(const wire_slow_call& slow, const CallKey& key) {
    if (!slow.values.version)
        return {};
    const CallProgram* program = functions_.program_of(key.spec, slow.values.version);
    if (!program)
        return {};
    const auto pid = static_cast<pid_t>(slow.end.event.pid);
    // All but results are read when the call begins.
    const uint64_t begin_ns = slow.end.event.time_ns - slow.end.duration_ns;
    return format_values(
        *program, slow.values,
        [&](uint64_t fd) { return descriptors_.find(pid, fd, slow.end.event.time_ns); },
        [&](uint64_t coroutine) { return names_.tasks().name(pid, coroutine, begin_ns); });
}

Wait LiveEvents::describe(const wire_wait& wait, pid_t pid, uint64_t now_ns) {
    if (!wait.blocked_ns)
        return {};
    return {wait.blocked_ns, wait_text(&descriptors_, pid, now_ns, wait.syscall, wait.argument)};
}

namespace {

// A slow call brings all of its values along, that which a split is by among them.
std::string_view label_text(const wire_slow_call& slow) {
    if (slow.end.label != WIRE_LABEL_STRING || !slow.values.version ||
        slow.end.label_value >= WIRE_MAX_STRINGS)
        return {};
    const char* text = slow.values.string[slow.end.label_value];
    return {text, strnlen(text, WIRE_STRING)};
}

} // namespace

void LiveEvents::on_slow_call(const WireSlowCallView& slow) {
    const wire_slow_call& head = *slow.head;
    auto key = key_of(head.end.call);
    if (!key)
        return;
    names_.next_slow_call();
    auto pid = static_cast<pid_t>(head.end.event.pid);
    uint64_t time = head.end.event.time_ns;
    SlowCallEvent event;
    event.end = translate(
        head.end, *key,
        head.comm[0] ? names_.thread(head.end.event.pid, head.end.event.tid, wire_comm(head.comm))
                     : names_.thread(head.end.event.pid, head.end.event.tid));
    event.end.label = label_of(head.end, *key, label_text(head));
    event.threshold_ns = head.threshold_ns;
    event.longest_wait = describe(head.longest_wait, pid, time);
    event.values = values_of(head, *key);
    note_keys(slow.enclosing);
    event.enclosing = calls_;
    if (head.from_return) {
        // The walk began in the caller, at the return address: the function itself goes on top.
        Location leaf{unknown_module, 0, false};
        addresses_.assign(slow.user_frames.begin(), slow.user_frames.end());
        if (const auto* place = functions_.place_of(key->spec)) {
            leaf = {names_.find_module(place->file.first, place->file.second), place->address,
                    false};
            if (!addresses_.empty())
                addresses_.front() -= place->behind_return;
        }
        event.stack = names_.stack_under(leaf, pid, time, addresses_);
    } else {
        event.stack = names_.stack(pid, time, {}, slow.user_frames);
    }
    sink_.on_slow_call(event);
}

void LiveEvents::on_call_parts(const WireCallPartsView& call) {
    const wire_call_parts& head = *call.head;
    const auto key = key_of(head.end.call);
    if (!key)
        return;
    parts_.clear();
    for (const wire_call_part& part : call.parts) {
        if (!part.generation)
            continue;
        // A function that is gone: its time is nobody's, and that of the others is not whole.
        const auto spec = functions_.find_spec(part.spec, part.generation);
        if (!spec)
            return;
        parts_.push_back({*spec, part.calls, part.self_ns});
    }
    CallPartsEvent event;
    event.end = translate(head.end, *key, names_.thread(head.end.event.pid, head.end.event.tid));
    event.set = head.set;
    event.stands_for = head.every;
    event.incomplete = head.incomplete;
    event.parts = parts_;
    sink_.on_call_parts(event);
}

} // namespace auger
