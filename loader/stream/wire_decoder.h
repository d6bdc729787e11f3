// SPDX-License-Identifier: GPL-3.0-or-later
// From the bytes of one record of the event ring to a view of it. Pure; trusts no length.
#pragma once

#include "bpf/unwind_table.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace auger {

// Views into the record's bytes.
struct WireSampleView {
    const wire_sample* head;
    std::span<const wire_call> calls;        // outermost first
    std::span<const uint64_t> user_frames;   // leaf first
    std::span<const uint64_t> kernel_frames; // leaf first
    const wire_waker* waker;                 // null: the sample says nothing of one
    std::span<const uint64_t> waker_frames;  // leaf first
    const wire_stack_copy* copy = nullptr;   // of a stack that the kernel side could not walk yet
    std::span<const std::byte> copied = {};  // from copy->start on
};
struct WireCallEndView {
    const wire_call_end* head;
    std::string_view label; // of WIRE_LABEL_STRING; without its NUL
};
struct WireSlowCallView {
    const wire_slow_call* head;
    std::span<const wire_call> enclosing; // outermost first
    std::span<const uint64_t> user_frames;
};
struct WireCallPartsView {
    const wire_call_parts* head;
    std::span<const wire_call_part> parts; // one whose generation is 0 was not called
};

struct WireTaskSendView {
    const wire_task_send* head;
    std::span<const wire_task_exchange> exchanges;
};

using WireView = std::variant<WireSampleView, WireCallEndView, WireSlowCallView, WireCallPartsView,
                              WireTaskSendView, const wire_process*>;

// Nothing for a record that is short, misaligned, of an unknown kind or lies about its size.
std::optional<WireView> decode_wire(std::span<const std::byte> record);

// Up to the first NUL; a name that fills the array has none.
std::string_view wire_comm(const char (&comm)[WIRE_COMM]);

} // namespace auger
