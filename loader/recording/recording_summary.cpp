// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recording_summary.h"

#include <algorithm>

namespace auger {

void RecordingSummary::on_thread(ThreadId, const ThreadInfo& info) {
    // The first thread's name is the process's, and the latest one after an exec.
    if (info.pid == info.tid)
        processes_.insert_or_assign(info.pid, info.comm);
    else
        processes_.emplace(info.pid, info.comm);
}

void RecordingSummary::on_probe(const ProbeInfo& info) {
    RecordedProbe& probe = probes_.try_emplace(info.id, RecordedProbe{info, {}, {}}).first->second;
    probe.specs.insert(info.specs.begin(), info.specs.end());
    if (info.slow.kind != Threshold::Kind::none &&
        std::find(probe.slow.begin(), probe.slow.end(), info.slow) == probe.slow.end())
        probe.slow.push_back(info.slow);
}

} // namespace auger
