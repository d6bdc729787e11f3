// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindWorker: threads that get modules' unwind tables, from the cache on disk or from processes
// that compile them (loader/unwind/table_reader.h), those that only root can have written first,
// then the smallest file. Of one user's files so many wait at most.
// Only descriptors, strings and finished tables cross over to them and back.
#pragma once

#include "loader/process/confined_process.h"
#include "loader/symbols/module_table.h"
#include "loader/unwind/unwind_tables.h"

#include <chrono>
#include <memory>
#include <vector>

namespace auger {

class UnwindWorker {
  public:
    struct Finished {
        ModuleId module;
        Result<UnwindTables> tables;
    };

    explicit UnwindWorker(std::shared_ptr<ConfinedProcesses> readers);
    ~UnwindWorker(); // does not wait for a file that is being read
    UnwindWorker(const UnwindWorker&) = delete;
    UnwindWorker& operator=(const UnwindWorker&) = delete;

    void request(ModuleId module, ModuleSource source);
    // What is done since the last call.
    std::vector<Finished> take();
    // True when nothing is left to do; false at the deadline.
    bool wait_idle(std::chrono::steady_clock::time_point deadline) const;
    // No file waits or is being read.
    bool idle() const;

  private:
    struct State;
    static void run(State& state, bool trusted_only);

    std::shared_ptr<State> state_; // shared with the threads
};

} // namespace auger
