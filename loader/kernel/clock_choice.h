// SPDX-License-Identifier: GPL-3.0-or-later
// ClockChoice: by which clocks the target is sampled, its threads' or the CPUs'. The threads' are
// the first choice, since the CPUs' interrupt everybody. Threads that live too short for clocks of
// their own, are too many, or leave their CPUs too often, are sampled by the CPUs'.
#pragma once

#include "loader/kernel/event_rate.h"
#include "loader/kernel/live_sampling.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <string>

namespace auger {

class ClockChoice {
  public:
    ClockChoice(LiveSampling& sampling, EventSink& sink) : sampling_(sampling), sink_(sink) {}

    // There is another target.
    void begin_anew();
    // Those of processes are among them, also of such as come to the target by executing a program
    // of its name.
    void on_thread_birth(uint64_t time_ns);
    void on_thread_end(uint64_t time_ns) { ends_.add(time_ns); }
    // Looks now and then how many threads there are, and what their clocks cost.
    void judge(const Overhead& overhead);

  private:
    void sample_cpus(const std::string& why);

    LiveSampling& sampling_;
    EventSink& sink_;
    EventRate births_, ends_;
    // Of this target.
    bool threads_are_short_lived_ = false;
    bool cannot_sample_cpus_ = false;
};

} // namespace auger
