// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/record_intake.h"

#include "loader/kernel/clock.h"

#include <algorithm>
#include <variant>

namespace auger {

size_t RecordIntake::deliver_changes() {
    const size_t changes = mappings_.deliver();
    unwind_.update(clock_ns());
    return changes;
}

size_t RecordIntake::deliver(const TimeSlice& until) {
    const uint64_t begin_ns = clock_ns();
    const bool misses_ends = members_.misses_ends(); // those before what is collected now
    ring_.collect();
    // Mappings that a collected sample lies in came before it, and so are in the watch's rings now.
    const size_t changes = deliver_changes();
    const size_t records = ring_.drain(until, [this](WireView& view) { return take(view); });
    if (!ring_.more() && ring_.caught_up())
        heard_ns_ = begin_ns;
    events_.on_time(heard_ns_);
    if (misses_ends && ring_.caught_up())
        members_.find_missed_ends();
    return records + changes;
}

// False: not yet.
bool RecordIntake::take(WireView& view) {
    if (auto* sample = std::get_if<WireSampleView>(&view)) {
        mappings_.note_process(static_cast<pid_t>(sample->head->event.pid));
        if (!copied_stacks_.complete(*sample, clock_ns()))
            return false;
        events_.on_sample(*sample);
        // What had been written by then was before it in the ring.
        heard_ns_ = std::max(heard_ns_, sample->head->event.time_ns);
    } else if (const auto* end = std::get_if<WireCallEndView>(&view)) {
        events_.on_call_end(*end);
    } else if (const auto* slow = std::get_if<WireSlowCallView>(&view)) {
        events_.on_slow_call(*slow);
    } else if (const auto* parts = std::get_if<WireCallPartsView>(&view)) {
        events_.on_call_parts(*parts);
    } else if (const auto* send = std::get_if<WireTaskSendView>(&view)) {
        events_.on_task_send(*send);
    } else {
        members_.on_process(*std::get<const wire_process*>(view));
    }
    return true;
}

} // namespace auger
