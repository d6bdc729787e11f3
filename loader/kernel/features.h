// SPDX-License-Identifier: GPL-3.0-or-later
// What this kernel and this process's privileges allow, found by trying, with the reason and the
// remedy for what is missing. `doctor` prints it; the rest of loader/kernel asks it.
#pragma once

#include "loader/backend.h"

#include <string>
#include <vector>

namespace auger {

struct Features {
    bool btf = false;                 // /sys/kernel/btf/vmlinux
    bool uprobe_multi = false;        // Linux 6.6
    bool uprobe_session = false;      // Linux 6.13
    bool stacks_under_return = false; // Linux 6.11 repairs return addresses in stacks
    bool hardware_cycles = false;
    bool privileged = false; // may load tracing programs
    int major = 0, minor = 0;

    static Features detect();
    std::vector<Capability> describe() const;
};

} // namespace auger
