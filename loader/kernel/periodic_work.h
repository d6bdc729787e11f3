// SPDX-License-Identifier: GPL-3.0-or-later
// PeriodicWork: what is done every so often beside taking records in: counters, names, the ledger,
// what a look is worth only now and then. Changes when something else is to be done, or less often.
#pragma once

#include "loader/kernel/clock_choice.h"
#include "loader/kernel/go_switches.h"
#include "loader/kernel/live_ledger.h"
#include "loader/kernel/live_mappings.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/live_overhead.h"
#include "loader/kernel/live_statistics.h"
#include "loader/kernel/own_priority.h"
#include "loader/kernel/probe_updates.h"
#include "loader/kernel/span_sweep.h"
#include "loader/kernel/target_members.h"
#include "loader/stream/events.h"

#include <chrono>
#include <cstdint>

namespace auger {

// Of records, and of names, before somebody who waits for poll() gets a look at what wakes it.
inline constexpr std::chrono::nanoseconds delivery_slice = std::chrono::milliseconds(4);

class PeriodicWork {
  public:
    PeriodicWork(LiveStatistics& statistics, LiveNames& names, LiveMappings& mappings,
                 ProbeUpdates& updates, LiveOverhead& overhead, ClockChoice& clocks,
                 TargetMembers& members, SpanSweep& spans, GoSwitches& go_switches,
                 LiveLedger& ledger, EventSink& sink)
        : statistics_(statistics), names_(names), mappings_(mappings), updates_(updates),
          overhead_(overhead), clocks_(clocks), members_(members), spans_(spans),
          go_switches_(go_switches), ledger_(ledger), sink_(sink) {}

    // What is due.
    void update(uint64_t now_ns);
    // Counters, names and ledger now, whatever is due.
    void bring_up_to_date(uint64_t now_ns);

  private:
    void report_ledger(uint64_t now_ns);

    LiveStatistics& statistics_;
    LiveNames& names_;
    LiveMappings& mappings_;
    ProbeUpdates& updates_;
    LiveOverhead& overhead_;
    ClockChoice& clocks_;
    TargetMembers& members_;
    SpanSweep& spans_;
    GoSwitches& go_switches_;
    LiveLedger& ledger_;
    EventSink& sink_;
    OwnPriority priority_;
    uint64_t next_statistics_ns_ = 0;
    uint64_t next_ledger_ns_ = 0;
};

} // namespace auger
