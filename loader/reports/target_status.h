// SPDX-License-Identifier: GPL-3.0-or-later
// What the target is made of, and has been. Changes when more is told of a process.
#pragma once

#include "loader/settings/target_spec.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace auger {

struct TargetStatus {
    TargetSpec spec;
    struct Process {
        pid_t pid;
        std::string comm; // raw
        std::string user; // whose it is, by its real user; empty: not known
        bool running;
        std::string exit;      // "exit code 0", "killed by signal 9", empty when unknown or running
        std::string machine{}; // that it runs on; empty where there is only one
    };
    std::vector<Process> processes;
};

} // namespace auger
