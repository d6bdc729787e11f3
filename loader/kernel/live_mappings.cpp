// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_mappings.h"

#include "loader/kernel/clock.h"
#include "loader/process/proc_info.h"

#include <unistd.h>

namespace auger {

size_t LiveMappings::deliver() {
    const size_t events = watch_.poll([this](const ProcessEvent& event) { on_event(event); });
    // While events are lost all the time, a small share of it.
    if (const uint64_t now = clock_ns(); events_were_lost_ && now >= next_scan_ns_) {
        events_were_lost_ = false;
        scan_anew();
        next_scan_ns_ = clock_ns() + scan_share * (clock_ns() - now);
    }
    return events;
}

void LiveMappings::on_event(const ProcessEvent& event) {
    using Kind = ProcessEvent::Kind;
    emulators_.on_event(event);
    if (event.kind == Kind::lost) {
        // Whatever was mapped meanwhile may hold what a probe waits for, or speak against return
        // probes.
        events_were_lost_ = true;
        updates_.expire();
        return;
    }
    auto pid = static_cast<pid_t>(event.pid);
    // The ring's word of a process that joins comes after its first mappings, and it may have ended
    // by then, so that is noted here too.
    if ((event.new_process() && (target_.contains(static_cast<pid_t>(event.parent_pid)) ||
                                 joined_.contains(static_cast<pid_t>(event.parent_pid)))) ||
        (event.kind == Kind::exec && target_.is_named(event.text)))
        joined_.insert(pid);
    bool concerns_us = target_.everything() || target_.contains(pid) || joined_.contains(pid);
    if (!concerns_us || pid == getpid())
        return;
    if (event.kind == Kind::exit) {
        if (event.tid != event.pid)
            clocks_.on_thread_end(event.time);
        // Its other threads have what is mapped to themselves now.
        if (event.tid == event.pid && !has_ended(pid))
            leaderless_[pid] = event;
        else if (event.tid == event.pid)
            on_end(event);
        return;
    }
    if (event.kind == Kind::fork && !event.new_process())
        clocks_.on_thread_birth(event.time);
    if (event.new_process() || event.kind == Kind::exec)
        leaderless_.erase(pid);
    mappings_.apply(event);
    if (event.kind == Kind::mmap || event.kind == Kind::exec)
        updates_.expire();
}

void LiveMappings::on_end(const ProcessEvent& event) {
    mappings_.apply(event);
    joined_.erase(static_cast<pid_t>(event.pid));
}

void LiveMappings::look_for_ends() {
    std::erase_if(leaderless_, [&](const auto& process) {
        if (!has_ended(process.first))
            return false;
        on_end(process.second);
        return true;
    });
}

// Events were lost: mappings, births and ends may be missing.
void LiveMappings::scan_anew() {
    updates_.expire();
    for (pid_t pid : view_.get().pids)
        (void)mappings_.scan(pid, clock_ns());
}

void LiveMappings::look_at(pid_t pid) {
    if (pid != getpid())
        (void)mappings_.scan(pid, clock_ns());
}

} // namespace auger
