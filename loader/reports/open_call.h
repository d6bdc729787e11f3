// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that are running. Changes when more is told of one.
#pragma once

#include "loader/base/ids.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <string>
#include <vector>

namespace auger {

// A call that is running.
struct OpenCall {
    ProbeId probe;
    SpecId spec;
    uint64_t age_ns = 0;
    ThreadInfo thread;
    uint32_t depth = 0;   // among the thread's open calls, 0: outermost
    bool running = false; // on a CPU, or waiting for one: its present stack cannot be read
    // Of a span and a goroutine: `wait` says what it does in words. Only a goroutine that is parked
    // has a stack, and a span whose key is a task of Python's: what that awaits.
    bool no_thread = false;
    std::string wait; // what it waits in and for: "recvfrom(9) tcp ..."; empty: unknown
    std::vector<LocationId> stack; // leaf first; empty: could not be read
};

} // namespace auger
