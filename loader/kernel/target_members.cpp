// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/target_members.h"

#include "loader/kernel/clock.h"
#include "loader/process/proc_info.h"
#include "loader/stream/wire_decoder.h"

#include <fmt/format.h>

#include <utility>

namespace auger {

void TargetMembers::begin_anew() {
    births_ = exits_ = {};
    exits_are_told_ = true;
    view_.begin_anew();
}

void TargetMembers::on_process(const wire_process& process) {
    auto pid = static_cast<pid_t>(process.event.pid);
    std::string comm(wire_comm(process.comm));
    switch (process.change) {
    case WIRE_PROCESS_FORKED:
        on_birth(process.event.time_ns);
        add(static_cast<pid_t>(process.child_pid), comm, true);
        break;
    case WIRE_PROCESS_EXECED: {
        const bool joins = !target_.is_running(pid);
        if (joins && !mappings_.knows(pid)) // events were lost
            (void)mappings_.scan(pid, process.event.time_ns);
        if (joins)
            on_birth(process.event.time_ns);
        updates_.on_execution(process.event.time_ns);
        spans_.end_process(pid, process.event.time_ns);
        add(pid, comm, !joins);
        break;
    }
    case WIRE_PROCESS_EXITED:
        if (target_.contains(pid)) {
            clocks_.on_thread_end(process.event.time_ns);
            clock_.on_exited(pid, process.cpu_ns);
            spans_.end_process(pid, process.event.time_ns);
            on_exited(pid);
        }
        break;
    default:
        break;
    }
}

void TargetMembers::on_birth(uint64_t time_ns) {
    clocks_.on_thread_birth(time_ns);
    births_.add(time_ns);
    if (births_.often(time_ns) && !view_.births_often()) {
        view_.note_births_often();
        updates_.expire();
    }
    updates_.on_birth(time_ns);
}

void TargetMembers::add(pid_t pid, const std::string& comm, bool inherits_sampling) {
    target_.on_started(pid, comm);
    clock_.on_started(pid);
    updates_.expire();
    if (auto added = sampling_.add_process(pid, inherits_sampling); !added)
        sink_.on_notice(clock_ns(), added.error().message());
}

void TargetMembers::on_exited(pid_t pid) {
    const bool ran = target_.is_running(pid);
    target_.on_exited(pid);
    clock_.on_exited(pid, 0);
    updates_.forget_process(pid);
    sampling_.forget_process(pid);
    view_.expire();
    if (ran && (pid != target_.status().processes.front().pid || target_.command_pidfd() < 0))
        tell_exit(pid);
}

// Not each of those of a shell script, or of a server that starts a process for each request.
void TargetMembers::tell_exit(pid_t pid) {
    const uint64_t now_ns = clock_ns();
    exits_.add(now_ns);
    if (!exits_.often(now_ns))
        sink_.on_notice(now_ns, fmt::format("{} ({}): exited", target_.name_of(pid), pid));
    else if (std::exchange(exits_are_told_, false))
        sink_.on_notice(now_ns, "processes of the target exit more than ten times a second: while "
                                "they do, single exits are not reported");
}

bool TargetMembers::collect_command() {
    const auto ended = target_.collect_command();
    if (!ended)
        return false;
    sink_.on_notice(clock_ns(), *ended);
    view_.expire();
    return true;
}

void TargetMembers::reconcile(uint64_t losses) {
    if (std::exchange(reconciled_losses_, losses) == losses)
        return;
    add_missed_births();
    misses_ends_ = true;
}

void TargetMembers::find_missed_ends() {
    misses_ends_ = false;
    add_missed_births();
    for (pid_t pid : target_.compare_with_kernel().ended)
        on_exited(pid);
}

void TargetMembers::add_missed_births() {
    for (pid_t pid : target_.compare_with_kernel().born) {
        auto comm = comm_of(pid);
        (void)mappings_.scan(pid, clock_ns());
        add(pid, comm ? *comm : "", true);
    }
}

} // namespace auger
