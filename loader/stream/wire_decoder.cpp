// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/stream/wire_decoder.h"

#include "bpf/go_runtime.h"
#include "loader/stream/events.h"

#include <cstring>

namespace auger {

// What the event stream has names of its own for.
static_assert(CallKey::no_thread_bit == WIRE_CALL_OF_NO_THREAD);
static_assert(most_open_calls == WIRE_MAX_OPEN_CALLS);
static_assert(most_marks == WIRE_MAX_MARKS);
static_assert(most_parts == WIRE_MAX_PARTS);
static_assert(Gate::most_terms == WIRE_MAX_GATE_TERMS);
static_assert(Gate::most_clauses == WIRE_MAX_CLAUSES);

namespace {

template <typename Record>
const Record* as(std::span<const std::byte> record) {
    return record.size() >= sizeof(Record) ? reinterpret_cast<const Record*>(record.data())
                                           : nullptr;
}

std::optional<WireView> decode_sample(std::span<const std::byte> record) {
    const auto* head = as<wire_sample>(record);
    if (!head || head->calls > WIRE_MAX_OPEN_CALLS || head->user_frames > WIRE_STACK_WORDS ||
        head->kernel_frames > WIRE_MAX_FRAMES)
        return {};
    size_t frames = size_t{head->user_frames} + head->kernel_frames;
    if (record.size() < sizeof(*head) + head->calls * sizeof(wire_call) + frames * sizeof(uint64_t))
        return {};
    const auto* calls = reinterpret_cast<const wire_call*>(head + 1);
    const auto* addresses = reinterpret_cast<const uint64_t*>(calls + head->calls);
    WireSampleView view{head,
                        {calls, head->calls},
                        {addresses, head->user_frames},
                        {addresses + head->user_frames, head->kernel_frames},
                        nullptr,
                        {}};
    std::span<const std::byte> tail =
        record.subspan(sizeof(*head) + head->calls * sizeof(wire_call) + frames * sizeof(uint64_t));
    if (!head->with_waker) {
        view.copy = as<wire_stack_copy>(tail);
        if (view.copy && view.copy->bytes > tail.size() - sizeof(wire_stack_copy))
            return {};
        if (view.copy)
            view.copied = tail.subspan(sizeof(wire_stack_copy), view.copy->bytes);
        return view;
    }
    view.waker = as<wire_waker>(tail);
    if (!view.waker || view.waker->frames > WIRE_STACK_WORDS ||
        tail.size() < sizeof(wire_waker) + view.waker->frames * sizeof(uint64_t))
        return {};
    view.waker_frames = {reinterpret_cast<const uint64_t*>(view.waker + 1), view.waker->frames};
    return view;
}

std::optional<WireView> decode_call_end(std::span<const std::byte> record) {
    const auto* end = as<wire_call_end>(record);
    if (!end)
        return {};
    if (end->label != WIRE_LABEL_STRING)
        return WireCallEndView{end, {}};
    std::span<const std::byte> tail = record.subspan(sizeof(*end));
    if (tail.size() < WIRE_STRING)
        return {};
    const auto* text = reinterpret_cast<const char*>(tail.data());
    return WireCallEndView{end, {text, strnlen(text, WIRE_STRING)}};
}

std::optional<WireView> decode_slow_call(std::span<const std::byte> record) {
    const auto* head = as<wire_slow_call>(record);
    if (!head || head->user_frames > WIRE_STACK_WORDS || head->enclosing > WIRE_MAX_OPEN_CALLS ||
        record.size() < sizeof(*head) + head->user_frames * sizeof(uint64_t))
        return {};
    return WireSlowCallView{head,
                            {head->call, head->enclosing},
                            {reinterpret_cast<const uint64_t*>(head + 1), head->user_frames}};
}

// The record is only as long as its parts are many.
std::optional<WireView> decode_call_parts(std::span<const std::byte> record) {
    constexpr size_t head_size = offsetof(wire_call_parts, part);
    if (record.size() < head_size)
        return {};
    const auto* head = reinterpret_cast<const wire_call_parts*>(record.data());
    if (head->parts > WIRE_MAX_PARTS || !head->every ||
        record.size() < head_size + head->parts * sizeof(wire_call_part))
        return {};
    return WireCallPartsView{head, {head->part, head->parts}};
}

std::optional<WireView> decode_task_send(std::span<const std::byte> record) {
    const auto* head = as<wire_task_send>(record);
    if (!head || head->exchanges > WIRE_MAX_EXCHANGES)
        return {};
    return WireTaskSendView{head, {head->exchange, head->exchanges}};
}

} // namespace

std::optional<WireView> decode_wire(std::span<const std::byte> record) {
    if (reinterpret_cast<uintptr_t>(record.data()) % alignof(uint64_t) != 0)
        return {};
    const auto* event = as<wire_event>(record);
    if (!event || event->size > record.size())
        return {};
    record = record.first(event->size);
    switch (event->kind) {
    case WIRE_SAMPLE:
        return decode_sample(record);
    case WIRE_CALL_END:
        return decode_call_end(record);
    case WIRE_SLOW_CALL:
        return decode_slow_call(record);
    case WIRE_CALL_PARTS:
        return decode_call_parts(record);
    case WIRE_TASK_SEND:
        return decode_task_send(record);
    case WIRE_PROCESS:
        if (const auto* process = as<wire_process>(record))
            return process;
        return {};
    default:
        return {};
    }
}

std::string_view wire_comm(const char (&comm)[WIRE_COMM]) {
    return {comm, strnlen(comm, WIRE_COMM)};
}

} // namespace auger
