// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that are running now, with what their threads do: a BPF program visits the threads, and
// the stacks of those that wait are read from their memory.
#pragma once

#include "loader/backend.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/live_probes.h"
#include "loader/kernel/programs.h"
#include "loader/process/fd_target.h"
#include "loader/process/user_stack.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace auger {

class OpenCallList {
  public:
    OpenCallList(const Programs& programs, LiveNames& names, const LiveProbes& probes)
        : programs_(programs), names_(names), probes_(probes) {}

    // Oldest first; of one probe, or of all. Fails with kind `unsupported` when no program may
    // visit the threads.
    Result<std::vector<OpenCall>> read(std::optional<ProbeId> probe);

  private:
    // Of threads, then of goroutines.
    Result<std::vector<wire_open_call>> read_records() const;
    // What all calls of a thread share.
    OpenCall describe_thread(std::span<const wire_open_call> records,
                             std::map<uint32_t, UserStacks>& processes);
    // The rest of one call; nothing when its probe is gone.
    std::optional<OpenCall> name_call(const wire_open_call& record) const;

    const Programs& programs_;
    LiveNames& names_;
    const LiveProbes& probes_;
    FdTargets descriptors_;
};

} // namespace auger
