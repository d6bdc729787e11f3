// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/parked_goroutine.h"

namespace auger {

// A g begins with the bounds of its stack, in all versions; its thread is zero while it has none,
// and the instruction pointer lies behind the stack pointer.
ParkedGoroutine read_parked_goroutine(Memory& memory, const wire_go_runtime& runtime, uint64_t g) {
    ParkedGoroutine goroutine;
    const auto low = memory.word(g), high = memory.word(g + sizeof(uint64_t));
    const auto thread = memory.word(g + runtime.g_m);
    const auto sp = memory.word(g + runtime.g_saved_sp);
    const auto ip = memory.word(g + runtime.g_saved_sp + sizeof(uint64_t));
    if (!low || !high || !thread || !sp || !ip)
        return goroutine;
    if (*thread) {
        goroutine.state = ParkedGoroutine::State::on_thread;
        return goroutine;
    }
    if (*sp < *low || *sp >= *high)
        return goroutine;
    return {ParkedGoroutine::State::parked, *low, *high, *sp, *ip};
}

} // namespace auger
