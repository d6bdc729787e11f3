// SPDX-License-Identifier: GPL-3.0-or-later
// The machine that auger runs on, as recordings name it.
#pragma once

#include "loader/stream/events.h"

namespace auger {

// By the clocks of now: a wall clock that is set later is not followed.
MachineInfo this_machine();

} // namespace auger
