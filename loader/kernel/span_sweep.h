// SPDX-License-Identifier: GPL-3.0-or-later
// SpanSweep: ends spans that nothing will end: whose time is up, whose process is no more, whose
// probe was deleted. The kernel side goes over them when it is told to.
#pragma once

#include "loader/kernel/live_probes.h"
#include "loader/kernel/programs.h"

#include <sys/types.h>

#include <cstdint>

namespace auger {

class SpanSweep {
  public:
    SpanSweep(const Programs& programs, const LiveProbes& probes)
        : programs_(programs), probes_(probes) {}

    // What is due.
    void update(uint64_t now_ns);
    // The process ended, or ran another program, at `time_ns`.
    void end_process(pid_t pid, uint64_t time_ns) const;

  private:
    void run(uint32_t tgid, uint64_t before_ns) const;

    const Programs& programs_;
    const LiveProbes& probes_;
    uint64_t next_ns_ = 0;
    bool had_spans_ = false;
};

} // namespace auger
