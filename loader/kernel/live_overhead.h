// SPDX-License-Identifier: GPL-3.0-or-later
// LiveOverhead: what observing takes of the target's CPU time, by cause, over a second at a time.
//
//   share of a cause = its cost / CPU time of the target
//
// Costs of samples and waits are measured by the programs themselves, by the clock at their
// beginning and end; a sample's with the way into its interrupt and out of it, a wait's with the
// way into its programs, both as measured when that begins. Costs of sampled threads' clocks are
// context switches times what one costs (thread_clocks.h), those of probes are their hits, which
// the programs count, times what one costs by its kind of instruction (hit_costs.h). Both were
// measured with warm caches and nothing asked of the calls, so they are estimates: tests hold them
// within a half of what the program loses. Hits count whoever hits, observed or not, since both
// pay.
//
// The CPU time is the kernel's (target_clock.h), and holds these costs: the thread that is hit
// pays.
#pragma once

#include "loader/kernel/go_switches.h"
#include "loader/kernel/hit_costs.h"
#include "loader/kernel/probe_statistics.h"
#include "loader/kernel/target_clock.h"
#include "loader/stream/events.h"

#include <array>
#include <map>

namespace auger {

class LiveMarks;
class LiveProbes;
class LiveSampling;

class LiveOverhead {
  public:
    LiveOverhead(const Programs& programs, const LiveProbes& probes, const LiveMarks& marks,
                 LiveSampling& sampling)
        : programs_(programs), probes_(probes), marks_(marks), sampling_(sampling) {}

    // Of probes, from before the first one on.
    void set_costs(const HitCosts& costs) {
        costs_ = costs;
        has_costs_ = true;
    }
    bool has_costs() const { return has_costs_; }
    const HitCosts& costs() const { return costs_; }
    TargetClock& clock() { return clock_; }
    // Begins a new span: what was in force has changed, and a span should hold one state.
    void begin(uint64_t now_ns);
    // Ends the span when it is long enough, and begins the next one. Whether it did.
    bool update(uint64_t now_ns);
    const Overhead& last() const { return last_; }
    // In it. The target's is part of what waits cost.
    const GoSwitches::Cost& last_go_switches() const { return last_go_switches_; }

  private:
    struct Counters {
        SamplerCounts samples;
        wire_wait_stats waits = {};
        uint64_t lost_wait_samples = 0;
        uint64_t line_hits = 0, line_ns = 0;
        uint64_t goroutine_ends = 0;
        Programs::GoroutineSwitches go_switches;
        std::map<SpecId, SpecHits> specs{};
    };
    Counters read() const;

    const Programs& programs_;
    const LiveProbes& probes_;
    const LiveMarks& marks_;
    LiveSampling& sampling_;
    HitCosts costs_;
    bool has_costs_ = false;
    TargetClock clock_;
    Overhead last_;
    GoSwitches::Cost last_go_switches_;
    uint64_t begin_ns_ = 0; // of the span; 0: none has begun
    Counters before_;
};

} // namespace auger
