// SPDX-License-Identifier: GPL-3.0-or-later
// ThreadClocks: what the clocks cost that are sampled. The kernel stops a thread's clock whenever
// the thread leaves its CPU, and starts it when it comes back, which no program of ours sees: where
// threads switch often, it is much more than the samples. It is dearer for a clock that ticks
// before anything else on that CPU does, since then the CPU's timer is set anew (here 3.8 in place
// of 1.4 us). That is the more frequent the higher the rate; how frequent, depends on what other
// timers there are, so it is taken for as frequent as it is beside the kernel's own tick alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace auger {

class ThreadClocks {
  public:
    struct Cost {
        uint64_t switches = 0;
        uint64_t ns = 0; // an estimate: as many times what one costs
    };
    // What a switch costs more between two threads that have such clocks is measured, which takes
    // some 40 ms. What was measured before stays when others got in the way.
    void measure(bool hardware);
    // Since the last call, of the threads of these processes that had been there by then; what
    // ended meanwhile does not count. The kernel tells how often each has come to a CPU.
    Cost take(const std::vector<pid_t>& pids, uint32_t rate_hz);
    // Until the next call of take() they do not count.
    void stop() { came_.clear(); }

  private:
    double ns_a_switch(uint32_t rate_hz) const;

    double seldom_ns_ = 0, often_ns_ = 0; // 0: not known yet
    std::map<pid_t, uint64_t> came_;      // how often each thread has come to a CPU
};

} // namespace auger
