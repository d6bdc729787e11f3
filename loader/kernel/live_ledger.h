// SPDX-License-Identifier: GPL-3.0-or-later
// LiveLedger: what was lost, refused and left out, and what observing costs, brought together from
// all who count it. Changes when something else is counted.
#pragma once

#include "loader/kernel/event_ring.h"
#include "loader/kernel/go_switches.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/live_overhead.h"
#include "loader/kernel/live_sampling.h"
#include "loader/kernel/module_catalogue.h"
#include "loader/kernel/probe_updates.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/task_waits.h"
#include "loader/process/process_watch.h"
#include "loader/stream/events.h"

#include <cstdint>

namespace auger {

class LiveLedger {
  public:
    LiveLedger(const Programs& programs, const EventRing& ring, const ProcessWatch& watch,
               const ModuleCatalogue& catalogue, const LiveNames& names,
               const ProbeUpdates& updates, const LiveSampling& sampling,
               const LiveOverhead& overhead, const GoSwitches& go_switches,
               const TaskWaits& task_waits, EventSink& sink)
        : programs_(programs), ring_(ring), watch_(watch), catalogue_(catalogue), names_(names),
          updates_(updates), sampling_(sampling), overhead_(overhead), go_switches_(go_switches),
          task_waits_(task_waits), sink_(sink) {}

    // Tells the sink.
    void report(uint64_t now_ns) const;
    // Events of all kinds that found the ring full.
    uint64_t lost_by_ring() const;
    // Records of births and ends among them.
    uint64_t lost_births_and_ends() const;

  private:
    const Programs& programs_;
    const EventRing& ring_;
    const ProcessWatch& watch_;
    const ModuleCatalogue& catalogue_;
    const LiveNames& names_;
    const ProbeUpdates& updates_;
    const LiveSampling& sampling_;
    const LiveOverhead& overhead_;
    const GoSwitches& go_switches_;
    const TaskWaits& task_waits_;
    EventSink& sink_;
};

} // namespace auger
