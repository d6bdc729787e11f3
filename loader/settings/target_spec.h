// SPDX-License-Identifier: GPL-3.0-or-later
// What is observed, as the user says it. Changes when a target can be named in another way.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace auger {

// What is observed.
struct TargetSpec {
    enum class Kind { none, pids, name, all, command };
    Kind kind = Kind::none;
    std::vector<pid_t> pids;
    bool tree = false;                // of kind pids: with the children that they have
    std::string name;                 // comm or base name of the executable
    std::string user;                 // of kind name: whose processes (real user); empty: anybody's
    std::string cgroup;               // likewise: in or below which group, as FilterSpec has them
    std::vector<std::string> command; // started by auger when it first runs (see start_command)
    friend bool operator==(const TargetSpec&, const TargetSpec&) = default;
};

// Which processes of the name are meant, in words to go behind it: " of www-data in web-1".
inline std::string condition_text(const TargetSpec& target) {
    return (target.user.empty() ? "" : " of " + target.user) +
           (target.cgroup.empty() ? "" : " in " + target.cgroup);
}

} // namespace auger
