// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace auger {

// Why something of a process's V8 could not be read.
enum class V8Problem : uint8_t {
    unreadable,
    gone, // something else is there: it has moved, or died
    late, // see MemoryRead
};

} // namespace auger
