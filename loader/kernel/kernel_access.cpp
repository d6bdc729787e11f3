// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/kernel_access.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/link_processes.h"
#include "loader/kernel/own_priority.h"
#include "loader/process/capabilities.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

void raise_limit(__rlimit_resource what, rlim_t least) {
    rlimit limit = {};
    if (getrlimit(what, &limit) != 0)
        return;
    const rlimit raised = {std::max(limit.rlim_cur, least), std::max(limit.rlim_max, least)};
    setrlimit(what, &raised);
}

// That only root may, before it gives the right to it up.
void raise_limits() {
    // One descriptor a sampled thread, link and mapped file: the default of 1,024 is soon used up.
    rlimit files = {};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        raise_limit(RLIMIT_NOFILE, files.rlim_max);
    // Instead of CAP_SYS_NICE (OwnPriority), and of CAP_IPC_LOCK: rings of perf events beyond what
    // a user may have, beside another auger's. Who is not root stays within the limits there are.
    raise_limit(RLIMIT_NICE, static_cast<rlim_t>(20 - OwnPriority::raised_nice));
    raise_limit(RLIMIT_MEMLOCK, RLIM_INFINITY);
}

// The kernel runs what is at a tracepoint in the order in which it came there, and takes all perf
// events of one tracepoint for one that came with the first: programs of later ones run then, too.
UniqueFd hold_exit_tracepoint(const Tracefs& tracefs) {
    const auto format = tracefs.format("sched", "sched_process_exit");
    if (!format)
        return {};
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = format->id;
    attributes.disabled = 1; // it counts nothing
    auto event = open_perf_event(attributes, -1, 0, "sched:sched_process_exit");
    return event ? *std::move(event) : UniqueFd();
}

} // namespace

ProgramsOptions loadable_programs(const Features& features, AttachWay way) {
    const bool multi = way == AttachWay::multi;
    return {.uprobe_multi = multi,
            .uprobe_session = multi && features.uprobe_session,
            .off_cpu = features.context_switches,
            .task_iterators = features.task_iterators,
            .socket_tracepoints = features.socket_tracepoints,
            .map_iterators = features.map_iterators,
            .disables_preemption = features.disables_preemption};
}

Result<KernelAccess> KernelAccess::open(const LiveOptions& options) {
    raise_limits();
    // Before there is anything for others to have their share of. Where they cannot be had, a kill
    // in the middle of detaching leaves breakpoints behind.
    std::shared_ptr<LinkProcesses> links;
    if (auto started = LinkProcesses::start())
        links = *std::move(started);
    Features features = Features::detect(links.get());
    // Nobody mounts it later without the right to.
    Tracefs tracefs = Tracefs::open();
    if (!features.privileged)
        return Error{"observe this machine", "",
                     "tracing programs may not be loaded, " + features.privilege_fault,
                     "run as root, or with CAP_BPF and CAP_PERFMON", Error::Kind::unsupported};
    if (!features.perf_events)
        return Error{"observe this machine", "", "perf events may not be opened",
                     perf_events_remedy, Error::Kind::unsupported};
    if (!features.btf)
        return Error{"observe this machine", "", "the kernel has no type information (BTF)",
                     "use a kernel with CONFIG_DEBUG_INFO_BTF", Error::Kind::unsupported};
    if (options.attach == LiveOptions::Attach::multi && !features.uprobe_multi)
        return Error{
            "attach", "multi", "no uprobe_multi links can be used: " + features.uprobe_multi_fault,
            "Linux 6.6 or later has them; `--attach perf` works here", Error::Kind::unsupported};
    AttachWay way = options.attach != LiveOptions::Attach::perf && features.uprobe_multi
                        ? AttachWay::multi
                        : AttachWay::perf;
    if (links && way == AttachWay::multi)
        links->give_up_perf_events();
    if (options.give_up_rights && !keep_capabilities(capabilities_to_keep(
                                      way == AttachWay::perf || features.perf_events_take_admin
                                          ? Work::observing_by_perf_events
                                          : Work::observing)))
        return system_error("give up", "capabilities");
    UniqueFd exit_event = hold_exit_tracepoint(tracefs);
    ProgramsOptions loadable = loadable_programs(features, way);
    loadable.late_walk_jiffies = options.late_walk_jiffies.value_or(loadable.late_walk_jiffies);
    auto programs = Programs::load(loadable);
    if (!programs)
        return programs.error();
    auto ring = EventRing::make((*programs)->map_fd(MapKind::events));
    if (!ring)
        return ring.error();
    auto watch = ProcessWatch::make();
    if (!watch)
        return watch.error();
    auto guard = FileGuard::make(std::move(links));
    if (!guard)
        return guard.error();
    return KernelAccess{features,
                        way,
                        *std::move(programs),
                        *std::move(ring),
                        *std::move(watch),
                        *std::move(guard),
                        std::move(tracefs),
                        std::move(exit_event)};
}

} // namespace auger
