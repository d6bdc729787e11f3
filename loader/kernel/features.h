// SPDX-License-Identifier: GPL-3.0-or-later
// What this kernel and this process's privileges allow, found by trying, with the reason and the
// remedy for what is missing. `doctor` prints it; the rest of loader/kernel asks it.
#pragma once

#include "loader/reports/capability.h"

#include <string>
#include <vector>

namespace auger {

class LinkProcesses;

inline constexpr const char* perf_events_remedy =
    "sysctl kernel.perf_event_paranoid=2 (above that, Debian's and Ubuntu's kernels ask for "
    "CAP_SYS_ADMIN), or run as root";

struct Features {
    bool privileged = false;          // may load tracing programs
    bool btf = false;                 // /sys/kernel/btf/vmlinux
    bool uprobes = false;             // probes can be attached, and fire
    bool uprobe_multi = false;        // Linux 6.6
    bool uprobe_session = false;      // Linux 6.13
    bool stacks_under_return = false; // Linux 6.11
    // What a return probe has a function return to makes a system call, which filters of system
    // calls see: Linux 6.11 to 6.13.
    bool returns_by_system_call = false;
    bool disables_preemption = false;    // Linux 6.10, where programs may be preempted
    bool perf_events = false;            // of all processes: clocks, mappings as they come
    bool perf_events_take_admin = false; // ... with CAP_SYS_ADMIN only (Debian's paranoid 3)
    bool hardware_cycles = false;
    bool context_switches = false;   // programs may run at them, for sampling of waits
    bool task_iterators = false;     // a program may visit all threads, to list open calls
    bool map_iterators = false;      // ... and all elements of a map, to list those of goroutines
    bool socket_tracepoints = false; // programs may watch what is sent and received
    bool tracepoints = false;        // tracefs tells of them
    bool kernel_names = false;       // /proc/kallsyms tells addresses
    bool other_users = false;        // their processes may be looked into
    bool other_files = false;        // that not everybody may read
    bool replaced_files = false;     // what is mapped can be opened though its path leads elsewhere
    // Why not, where there is more than one reason.
    std::string uprobes_fault, uprobe_multi_fault, privilege_fault, socket_tracepoints_fault,
        map_iterators_fault, tracepoints_fault;
    // What functions of the kernel could be probed by, and is not there; empty: it is.
    std::string no_kernel_probes;

    // `processes` take off what is tried; null: a thread does.
    static Features detect(LinkProcesses* processes = nullptr);
    std::vector<Capability> describe() const;
};

} // namespace auger
