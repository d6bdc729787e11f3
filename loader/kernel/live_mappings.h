// SPDX-License-Identifier: GPL-3.0-or-later
// LiveMappings: what the processes of the target map, by the word of perf events, and by /proc when
// events were lost. Of births and ends it takes from there what mappings need, and those of
// threads; of processes TargetMembers knows better. Changes when mappings are to be learnt in
// another way.
#pragma once

#include "loader/kernel/clock_choice.h"
#include "loader/kernel/current_view.h"
#include "loader/kernel/emulator_watch.h"
#include "loader/kernel/live_target.h"
#include "loader/kernel/probe_updates.h"
#include "loader/process/process_watch.h"
#include "loader/symbols/module_map.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace auger {

class LiveMappings {
  public:
    LiveMappings(ProcessWatch& watch, const LiveTarget& target, ModuleMap& mappings,
                 CurrentView& view, ProbeUpdates& updates, ClockChoice& clocks,
                 EmulatorWatch& emulators)
        : watch_(watch), target_(target), mappings_(mappings), view_(view), updates_(updates),
          clocks_(clocks), emulators_(emulators) {}

    // Takes in what has come; returns how many events that were.
    size_t deliver();
    // Of a process that a sample is of. When events were lost, that of its birth may be among them.
    void note_process(pid_t pid) {
        if (watch_.lost() > 0 && !mappings_.knows(pid))
            look_at(pid);
    }
    // Of processes whose first thread has ended.
    void look_for_ends();

  private:
    void on_event(const ProcessEvent& event);
    void on_end(const ProcessEvent& event);
    void scan_anew();
    void look_at(pid_t pid);

    ProcessWatch& watch_;
    const LiveTarget& target_;
    ModuleMap& mappings_;
    CurrentView& view_;
    ProbeUpdates& updates_;
    ClockChoice& clocks_;
    EmulatorWatch& emulators_;
    // Running ones that were born of the target or execute a program of its name, as the watch saw
    // them.
    std::set<pid_t> joined_;
    std::map<pid_t, ProcessEvent> leaderless_; // by pid: the end of the first thread; others run
    bool events_were_lost_ = false;
    static constexpr uint64_t scan_share = 4; // of the time that one took, until the next
    uint64_t next_scan_ns_ = 0;
};

} // namespace auger
