// SPDX-License-Identifier: GPL-3.0-or-later
// RunningTime: for how long a program's threads have run, as the kernel's perf events count it
// (PERF_COUNT_SW_TASK_CLOCK). Time that the hypervisor takes is in it, as in the sampler's clock;
// the program's CPU clock is without it, and without what was taken before: what is stolen at once
// is taken off what runs on that CPU next, bit by bit (update_rq_clock_task() in
// kernel/sched/core.c), which can last for seconds.
#pragma once

#include "loader/base/fd.h"

#include <sys/types.h>

#include <vector>

namespace auger::test {

class RunningTime {
  public:
    // Of the threads that it has, and those that these start. std::runtime_error: there is none.
    explicit RunningTime(pid_t pid);
    // Since then, ns.
    double ns() const;

  private:
    std::vector<UniqueFd> counters_; // of each thread
};

} // namespace auger::test
