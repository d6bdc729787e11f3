// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/goroutine_text.h"

#include "loader/kernel/live_names.h"

#include <fmt/format.h>

namespace auger {

std::optional<uint64_t> wait_of_goroutine(const wire_open_call& record) {
    const int reason = record.syscall - WIRE_SYSCALL_PARKED;
    if (!record.off_since_ns)
        return std::nullopt;
    return reason >= 0 && reason < WIRE_GO_REASONS
               ? LiveNames::first_parked_goroutine + static_cast<uint64_t>(reason)
               : LiveNames::queued_goroutine;
}

namespace {

// "parked: chan receive, for 12.5 ms"; empty where it is not watched.
std::string goroutine_wait_text(const wire_open_call& record) {
    const auto wait = wait_of_goroutine(record);
    if (!wait)
        return {};
    const std::string what =
        *wait == LiveNames::queued_goroutine
            ? "queued"
            : fmt::format("parked: {}",
                          park_reason_names[*wait - LiveNames::first_parked_goroutine]);
    const uint64_t waited =
        record.now_ns > record.off_since_ns ? record.now_ns - record.off_since_ns : 0;
    return fmt::format("{}, for {:.1f} ms", what, static_cast<double>(waited) / 1e6);
}

} // namespace

std::string goroutine_text(const wire_open_call& record, ParkedGoroutine::State state) {
    const std::string wait = goroutine_wait_text(record);
    switch (state) {
    case ParkedGoroutine::State::parked:
        return wait.empty() ? "parked or queued" : wait;
    case ParkedGoroutine::State::on_thread:
        return wait.empty() ? "on a thread: only the stack of one that is parked can be read"
                            : wait + "; it goes on";
    case ParkedGoroutine::State::unreadable:
        break;
    }
    return goroutine_text(record, "its stack could not be read");
}

std::string goroutine_text(const wire_open_call& record, std::string_view why_no_stack) {
    const std::string wait = goroutine_wait_text(record);
    return fmt::format("{}{}{}", wait, wait.empty() ? "" : "; ", why_no_stack);
}

} // namespace auger
