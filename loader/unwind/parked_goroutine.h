// SPDX-License-Identifier: GPL-3.0-or-later
// Where a goroutine that no thread runs will go on, as Go's runtime has left it in memory. All of
// that is the target's, which may go on meanwhile.
#pragma once

#include "bpf/go_runtime.h"
#include "loader/base/memory.h"

#include <cstdint>

namespace auger {

struct ParkedGoroutine {
    enum class State {
        parked,    // on no thread: parked, or ready
        on_thread, // a thread runs it, or is in a system call for it
        unreadable,
    } state = State::unreadable;
    // Of a parked one: its stack, [low, high), and where it goes on.
    uint64_t low = 0, high = 0, sp = 0, ip = 0;
    friend bool operator==(const ParkedGoroutine&, const ParkedGoroutine&) = default;
};

// `g`: the address of the goroutine's descriptor.
ParkedGoroutine read_parked_goroutine(Memory& memory, const wire_go_runtime& runtime, uint64_t g);

} // namespace auger
