// SPDX-License-Identifier: GPL-3.0-or-later
// How services wait for what is late: names, events, files that others write. Hardly ever changes.
#pragma once

#include "loader/base/read_clock.h"

#include <cstdint>

namespace auger {

// From one look at whether it has come to the next.
inline constexpr uint64_t retry_interval_ns = 20 * millisecond_ns;

} // namespace auger
