// SPDX-License-Identifier: GPL-3.0-or-later
// Programs of Debian's under load, as bench_programs observes them: each is started by a script of
// bench/programs in a folder of its own, and goes with everything it has started.
#pragma once

#include "bench/child.h"
#include "bench/scratch_folder.h"

#include <memory>
#include <string>
#include <vector>

namespace auger::bench {

struct RealProgram {
    const char* name;                    // of the row
    const char* process;                 // whose samples count; clients have other names
    std::vector<std::string> script;     // in bench/programs, with its arguments
    std::vector<const char*> programs{}; // without which it cannot run
    const char* packages;                // that have them
};

const std::vector<RealProgram>& real_programs();
// Of a program that is missing, its packages; else empty.
std::string missing_packages(const RealProgram& program);

class RunningProgram {
  public:
    // Returns when it is ready and under load. Throws when it does not come to that.
    explicit RunningProgram(const RealProgram& program);
    ~RunningProgram();
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;

    // The script and all that it has started.
    std::vector<pid_t> processes() const;

  private:
    ScratchFolder folder_;
    std::unique_ptr<Child> script_;
};

} // namespace auger::bench
