// SPDX-License-Identifier: GPL-3.0-or-later
// TargetMembers: which processes belong to the target as time goes by. The kernel's records of
// births and ends say it, and where records were lost its set of targets does; all that keep
// something of each process are told. Changes when something else is kept of each process.
#pragma once

#include "bpf/wire.h"
#include "loader/kernel/clock_choice.h"
#include "loader/kernel/current_view.h"
#include "loader/kernel/event_rate.h"
#include "loader/kernel/live_sampling.h"
#include "loader/kernel/live_target.h"
#include "loader/kernel/probe_updates.h"
#include "loader/kernel/span_sweep.h"
#include "loader/kernel/target_clock.h"
#include "loader/stream/events.h"
#include "loader/symbols/module_map.h"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace auger {

class TargetMembers {
  public:
    TargetMembers(LiveTarget& target, CurrentView& view, ProbeUpdates& updates,
                  LiveSampling& sampling, ClockChoice& clocks, TargetClock& clock,
                  ModuleMap& mappings, const SpanSweep& spans, EventSink& sink)
        : target_(target), view_(view), updates_(updates), sampling_(sampling), clocks_(clocks),
          clock_(clock), mappings_(mappings), spans_(spans), sink_(sink) {}

    // There is another target.
    void begin_anew();
    void on_process(const wire_process& process);
    // Whether the command has ended just now, which the user is told.
    bool collect_command();

    // `losses`: of records of births and ends, since the session began. When there are more, the
    // births that the kernel knows are added at once.
    void reconcile(uint64_t losses);
    // Ends may be missing. find_missed_ends() is right once all that was in the ring then has been
    // handed over: a birth may wait there whose end was lost.
    bool misses_ends() const { return misses_ends_; }
    void find_missed_ends();

  private:
    // It was born of the target, or came to it by its new name.
    void on_birth(uint64_t time_ns);
    void add(pid_t pid, const std::string& comm, bool inherits_sampling);
    void add_missed_births();
    void on_exited(pid_t pid);
    void tell_exit(pid_t pid);

    LiveTarget& target_;
    CurrentView& view_;
    ProbeUpdates& updates_;
    LiveSampling& sampling_;
    ClockChoice& clocks_;
    TargetClock& clock_;
    ModuleMap& mappings_;
    const SpanSweep& spans_;
    EventSink& sink_;
    EventRate births_, exits_;       // of processes
    bool exits_are_told_ = true;     // each of them, however often that is
    uint64_t reconciled_losses_ = 0; // of births and ends
    bool misses_ends_ = false;
};

} // namespace auger
