// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that are running. Changes when more is told of one.
#pragma once

#include "loader/base/ids.h"
#include "loader/reports/thread_now.h"
#include "loader/stream/events.h"

#include <cstdint>

namespace auger {

// A call that is running, and what its thread does.
struct OpenCall : ThreadNow {
    ProbeId probe;
    SpecId spec;
    uint64_t age_ns = 0;
    uint32_t depth = 0; // among the thread's open calls, 0: outermost
    // Of a span and a goroutine: `wait` says what it does in words. Only a goroutine that is parked
    // has a stack, and a span whose key is a task of Python's: what that awaits.
    bool no_thread = false;
};

} // namespace auger
