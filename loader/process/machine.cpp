// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/machine.h"

#include "loader/base/read_clock.h"

#include <sys/utsname.h>

namespace auger {

MachineInfo this_machine() {
    MachineInfo info;
    utsname names{};
    if (uname(&names) == 0)
        info.name = names.nodename;
    const uint64_t wall = read_clock(CLOCK_REALTIME), monotonic = read_clock(CLOCK_MONOTONIC);
    if (wall > monotonic)
        info.boot_ns = wall - monotonic;
    return info;
}

} // namespace auger
