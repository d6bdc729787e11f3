// SPDX-License-Identifier: GPL-3.0-or-later
// What an exit's cookie says of the instruction, beside whose it is (see wire_cookie).
#pragma once

#include "bpf/wire.h"
#include "loader/probes/code_place.h"

#include <cstdint>

namespace auger {

// Of a conditional jump: an exit, or an entry that is one, whose other probe then has those calls
// for which the condition holds (AttachmentRequest::short_calls).
inline uint64_t condition_bits(uint8_t condition) {
    return condition < no_condition
               ? uint64_t{condition} << WIRE_COOKIE_CONDITION_SHIFT | WIRE_COOKIE_CONDITIONAL
               : 0;
}

// What its hits cost.
inline uint64_t cost_bits(const CodeExit& exit) {
    return exit.cost == ProbeCost::single_stepped ? WIRE_COOKIE_STEPPED : 0;
}

// When it is one, where the return address is, and what its hits cost.
inline uint64_t exit_bits(const CodeExit& exit) {
    static_assert(most_frame_distance / sizeof(uint64_t) == WIRE_COOKIE_FRAME_MASK);
    return condition_bits(exit.conditional ? exit.condition : no_condition) | cost_bits(exit) |
           uint64_t{exit.frame_distance / sizeof(uint64_t)} << WIRE_COOKIE_FRAME_SHIFT |
           uint64_t{exit.from_frame_pointer} << WIRE_COOKIE_FRAME_POINTER_SHIFT;
}

} // namespace auger
