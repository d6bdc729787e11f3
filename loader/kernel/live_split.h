// SPDX-License-Identifier: GPL-3.0-or-later
// LiveSplit: by what the calls of a probe are told apart beside their durations, and what `only`
// keeps: brings together lines, predicates, labels and gates, each edit whole or not at all.
#pragma once

#include "loader/kernel/live_gates.h"
#include "loader/kernel/live_marks.h"
#include "loader/kernel/live_probes.h"

namespace auger {

class LiveSplit {
  public:
    LiveSplit(LiveProbes& probes, LiveMarks& marks, LiveGates& gates, EventSink& sink)
        : probes_(probes), marks_(marks), gates_(gates), sink_(sink) {}

    // Both are written into the stream with what is found out here (see SplitInfo, OnlyInfo).
    Result<void> set(const SplitInfo& split, const TargetView& view);
    Result<void> set_only(const OnlyInfo& only, const TargetView& view);

  private:
    Result<MarkInfo> watch(const Branch& branch, const TargetView& view);

    LiveProbes& probes_;
    LiveMarks& marks_;
    LiveGates& gates_;
    EventSink& sink_;
    SplitInfo split_;
    OnlyInfo only_;
};

} // namespace auger
