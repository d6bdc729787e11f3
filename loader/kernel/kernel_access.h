// SPDX-License-Identifier: GPL-3.0-or-later
// KernelAccess: what a live backend has of the kernel, and with what rights, before there is a
// target. Changes when a privilege or a feature of the kernel is needed, or is so no longer.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/kernel/attachment.h"
#include "loader/kernel/event_ring.h"
#include "loader/kernel/features.h"
#include "loader/kernel/file_guard.h"
#include "loader/kernel/live_backend.h"
#include "loader/kernel/programs.h"
#include "loader/process/process_watch.h"
#include "loader/tracepoints/tracefs.h"

#include <memory>

namespace auger {

// Which programs there are, and in which form, where probes are attached in that way.
ProgramsOptions loadable_programs(const Features& features, AttachWay way);

struct KernelAccess {
    Features features;
    AttachWay way; // how probes are attached
    std::unique_ptr<Programs> programs;
    std::unique_ptr<EventRing> ring;
    ProcessWatch watch;
    std::unique_ptr<FileGuard> guard;
    Tracefs tracefs;
    // Holds the place of probes at the end of threads, before the program that takes a process
    // which has ended out of the target: they belong to it still. Empty: there is no tracefs.
    UniqueFd exit_event;

    // Fails as make_live_backend() does. Gives up what rights the options say.
    static Result<KernelAccess> open(const LiveOptions& options);
};

} // namespace auger
