// SPDX-License-Identifier: GPL-3.0-or-later
// EmulatorWatch: takes probes off a file that an emulator is about to translate
// (loader/process/emulator.h), where they are in force for every process. Changes when emulators
// are to be told in another way.
#pragma once

#include "loader/kernel/current_view.h"
#include "loader/kernel/live_marks.h"
#include "loader/kernel/live_probes.h"
#include "loader/process/perf_record.h"

#include <sys/types.h>

#include <cstddef>
#include <set>
#include <string>

namespace auger {

class EmulatorWatch {
  public:
    EmulatorWatch(const CurrentView& view, LiveProbes& probes, LiveMarks& marks)
        : view_(view), probes_(probes), marks_(marks) {}

    // Of any process.
    void on_event(const ProcessEvent& event);

  private:
    void on_mapping(const ProcessEvent& mapping);
    void withdraw(const TargetModule& module, const std::string& why);

    const CurrentView& view_;
    LiveProbes& probes_;
    LiveMarks& marks_;
    // Processes found to be none, until they execute or map one.
    static constexpr size_t most_no_emulators = 10'000;
    std::set<pid_t> no_emulators_;
};

} // namespace auger
