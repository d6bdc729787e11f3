// SPDX-License-Identifier: GPL-3.0-or-later
// BirthRates: how often processes and threads of the target are born and end. Threads that live too
// short for clocks of their own, are too many, or leave their CPUs too often, are sampled by the
// CPUs' clocks. Changes when something else is to follow from these rates.
#pragma once

#include "loader/kernel/event_rate.h"
#include "loader/kernel/live_sampling.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <string>

namespace auger {

class BirthRates {
  public:
    BirthRates(LiveSampling& sampling, EventSink& sink) : sampling_(sampling), sink_(sink) {}

    // There is another target.
    void begin_anew();
    // Whether processes are born often.
    bool on_process_birth(uint64_t time_ns);
    // Of threads, those that begin and end processes among them.
    void on_thread_birth(uint64_t time_ns);
    void on_thread_end(uint64_t time_ns) { ends_.add(time_ns); }
    // Looks now and then how many threads there are.
    void count_threads();
    // Looks at what the threads' clocks cost in a span of so long, of so much CPU time.
    void judge_clocks(const ThreadClocks::Cost& cost, uint64_t target_ns, uint64_t span_ns);

  private:
    void sample_cpus(const std::string& why);

    LiveSampling& sampling_;
    EventSink& sink_;
    EventRate process_births_, births_, ends_;
    bool threads_are_short_lived_ = false; // of this target
};

} // namespace auger
