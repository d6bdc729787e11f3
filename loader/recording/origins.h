// SPDX-License-Identifier: GPL-3.0-or-later
// Origins: of which machines the things are that a stream of several machines defines, as a relay
// has it: its records know of one. Changes when something else is of one machine.
#pragma once

#include "loader/stream/events.h"

#include <string>
#include <vector>

namespace auger {

struct Origins {
    struct Machine {
        MachineId id; // the relay's
        MachineInfo info;
    };
    std::vector<Machine> machines; // that have begun
    std::vector<MachineId> of;     // threads and functions, in the order in which they are defined
};

// Of one relay.
inline constexpr size_t most_relayed_hosts = 1024;
inline constexpr size_t most_host_name = 256; // bytes

} // namespace auger
