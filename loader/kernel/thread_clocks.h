// SPDX-License-Identifier: GPL-3.0-or-later
// ThreadClocks: what the clocks cost that are sampled. The kernel stops a thread's clock whenever
// the thread leaves its CPU, and starts it when it comes back, which no program of ours sees: where
// threads switch often, it is much more than the samples. It is dearer for a clock that ticks
// before anything else on that CPU does, since then the CPU's timer is set anew, which a virtual
// CPU may have to ask its host for (here 20 in place of 0.6 us). That is the more frequent the
// higher the rate; how frequent, depends on what other timers there are, so it is taken for as
// frequent as it is beside the kernel's own tick alone.
#pragma once

#include "loader/process/proc_info.h"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace auger {

class ThreadClocks {
  public:
    struct Cost {
        uint64_t switches = 0;
        uint64_t ns = 0; // an estimate
    };
    // Measures what a switch costs more between two threads that have such clocks, unless that is
    // known: some 100 ms. It stays unknown when others got in the way.
    void measure(bool hardware);
    // Since the last call, of the threads of these processes that had been there by then; what
    // ended meanwhile does not count. The kernel tells how often each has come to a CPU, and for
    // how long in all.
    Cost take(const std::vector<pid_t>& pids, uint32_t rate_hz);
    // Until the next call of take() they do not count.
    void stop() { ran_.clear(); }

  private:
    // Of a clock that ticks before anything else seldom, and nearly always; 0: not known yet.
    double seldom_ns_ = 0, often_ns_ = 0;
    std::map<pid_t, OnCpu> ran_; // each thread, up to the last call
};

} // namespace auger
