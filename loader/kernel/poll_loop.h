// SPDX-License-Identifier: GPL-3.0-or-later
// PollLoop: waits for what happens, takes it in by slices, so that others have their turn, and does
// what is due in between. Changes when something else is to be waited for.
#pragma once

#include "loader/base/time_slice.h"
#include "loader/kernel/live_target.h"
#include "loader/kernel/live_unwind.h"
#include "loader/kernel/periodic_work.h"
#include "loader/kernel/probe_updates.h"
#include "loader/kernel/record_intake.h"
#include "loader/kernel/target_members.h"
#include "loader/kernel/task_waits.h"
#include "loader/recording/recorders.h"
#include "loader/stream/events.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace auger {

class PollLoop {
  public:
    // Readable when there is something to take in.
    using Sources = std::array<int, 4>;

    PollLoop(const Sources& sources, RecordIntake& records, LiveUnwind& unwind,
             TargetMembers& members, ProbeUpdates& updates, PeriodicWork& work,
             TaskWaits& task_waits, Recorders& recorders, const LiveTarget& target, EventSink& sink)
        : sources_(sources), records_(records), unwind_(unwind), members_(members),
          updates_(updates), work_(work), task_waits_(task_waits), recorders_(recorders),
          target_(target), sink_(sink) {}

    // As Backend::poll().
    bool poll(std::chrono::nanoseconds timeout, int wake_fd);
    // As Backend::refresh().
    void refresh();
    // All that was there at the beginning.
    void deliver_all();
    // Of mappings alone.
    void deliver_changes() { records_.deliver_changes(); }

  private:
    size_t deliver(const TimeSlice&);
    void tell_time();
    bool wait_until(uint64_t time_ns, int wake_fd) const;

    const Sources sources_;
    RecordIntake& records_;
    LiveUnwind& unwind_;
    TargetMembers& members_;
    ProbeUpdates& updates_;
    PeriodicWork& work_;
    TaskWaits& task_waits_;
    Recorders& recorders_;
    const LiveTarget& target_;
    EventSink& sink_;
    uint64_t next_delivery_ns_ = 0;
    uint64_t told_ns_ = 0; // the last time that the sink was told
};

} // namespace auger
