// SPDX-License-Identifier: GPL-3.0-or-later
// ProbeUpdates: when the probes are looked over, because processes came, mapped something or wrote
// to a probed file, or a file has been read: as soon as possible, but within a share of our time,
// and without waiting for what is still being read. Changes when something
// else makes probes wrong, or may take another share.
#pragma once

#include "loader/kernel/current_view.h"
#include "loader/kernel/file_guard.h"
#include "loader/kernel/live_marks.h"
#include "loader/kernel/live_probes.h"
#include "loader/kernel/live_statistics.h"
#include "loader/probes/code_readers.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <cstdint>

namespace auger {

class ProbeUpdates {
  public:
    ProbeUpdates(CurrentView& view, LiveProbes& probes, LiveMarks& marks, CodeReaders& readers,
                 FileGuard& guard, LiveStatistics& statistics, EventSink& sink)
        : view_(view), probes_(probes), marks_(marks), readers_(readers), guard_(guard),
          statistics_(statistics), sink_(sink) {}

    // There is another target: its probes, at once.
    void on_target(uint64_t now_ns);
    // Processes or their modules have changed: the probes are looked over when update() may.
    void expire();
    // Takes in which files somebody has begun to write to.
    void take_written_files();
    void update(uint64_t now_ns);
    void forget_process(pid_t pid);

    // A process of the target came to be at that time.
    void on_birth(uint64_t time_ns);
    // ... executed a program then.
    void on_execution(uint64_t time_ns);
    // Processes that were not probed from their birth on.
    uint64_t late() const { return late_; }

  private:
    bool is_late(uint64_t birth_ns) const;
    void on_written_file(const ProbedFile& file);

    CurrentView& view_;
    LiveProbes& probes_;
    LiveMarks& marks_;
    CodeReaders& readers_;
    FileGuard& guard_;
    LiveStatistics& statistics_;
    EventSink& sink_;
    bool are_old_ = false;
    uint64_t next_update_ns_ = 0;
    uint64_t look_again_ns_ = 0; // from when on they are old by themselves; 0: they are not
    // When probes came to be in force in all processes that are born, or in the first place.
    uint64_t in_force_since_ns_ = 0;
    uint64_t late_ = 0;
};

} // namespace auger
