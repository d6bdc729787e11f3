// SPDX-License-Identifier: GPL-3.0-or-later
// Who holds a file's lease is waited for by whoever opens that file for writing, for 45 s
// (/proc/sys/fs/lease-break-time); then the kernel ends the lease itself.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace auger {

// `locks`: text of /proc/locks (proc_locks(5)). Whether somebody waits for a lease of the process.
bool lease_is_waited_for(std::string_view locks, pid_t holder);

// A process that is stopped (SIGSTOP, Ctrl-Z) cannot answer: it is told to go on (SIGCONT) when
// somebody waits for a lease of its own. Whether it was.
bool wake_for_lease(pid_t holder);

} // namespace auger
