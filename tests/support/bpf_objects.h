// SPDX-License-Identifier: GPL-3.0-or-later
// BPF programs and links by their ids, which the kernel never uses again: what was there before,
// what a process holds, and whether it is gone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>

namespace auger::test {

struct BpfObjects {
    std::set<uint32_t> programs, links;

    static BpfObjects existing(); // in the whole system
    static BpfObjects held_by(pid_t pid);

    BpfObjects without(const BpfObjects& others) const;
    bool gone() const; // none of them exists
    // The kernel takes the last steps after the process is gone; the limit is generous.
    bool wait_gone() const;

    // Whether all that was made since then is gone, or held by a process of somebody else's: one
    // that is neither this process's descendant nor an orphan. Waits for it as wait_gone() does.
    static bool wait_nothing_left(const BpfObjects& since);
};

} // namespace auger::test
