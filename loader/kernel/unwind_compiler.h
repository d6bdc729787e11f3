// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindCompiler: a thread that compiles modules' call frame information, the smallest file first.
// Only descriptors, strings and finished tables cross over to it and back.
#pragma once

#include "loader/symbols/module_table.h"
#include "loader/unwind/unwind_table.h"

#include <chrono>
#include <memory>
#include <vector>

namespace auger {

class UnwindCompiler {
  public:
    struct Finished {
        ModuleId module;
        Result<UnwindTables> tables;
    };

    UnwindCompiler();
    ~UnwindCompiler(); // does not wait for a file that is being read
    UnwindCompiler(const UnwindCompiler&) = delete;
    UnwindCompiler& operator=(const UnwindCompiler&) = delete;

    void request(ModuleId module, ModuleSource source);
    // What is done since the last call.
    std::vector<Finished> take();
    // True when nothing is left to do; false at the deadline.
    bool wait_idle(std::chrono::steady_clock::time_point deadline) const;
    // The files that wait or are being read.
    std::vector<std::string> busy_with() const;

  private:
    struct State;
    static void run(State& state);

    std::shared_ptr<State> state_; // shared with the thread
};

} // namespace auger
