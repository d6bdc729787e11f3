// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of the target, as the user says it. Changes when there is something else to filter
// by.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace auger {

// Which events of the target count: values of one kind are alternatives, kinds must all match.
struct FilterSpec {
    std::vector<pid_t> pids;
    std::vector<pid_t> tids;
    std::vector<std::string> comms;   // exact thread names, at most 15 bytes
    std::vector<std::string> cgroups; // paths below the cgroup2 mount, or containers (name or id)
    friend bool operator==(const FilterSpec&, const FilterSpec&) = default;
};

} // namespace auger
