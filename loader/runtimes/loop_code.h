// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "bpf/wire/loop_code.h"

#include <cstdint>

namespace auger {

// The code of an interpreter's loop, whose native frames run the language's: its body, and the part
// of it that the compiler has put elsewhere. Sizes are 0 when there is none.
struct LoopCode {
    uint64_t body = 0, body_size = 0;
    uint64_t cold = 0, cold_size = 0;

    bool holds(uint64_t code) const { return code - body < body_size || code - cold < cold_size; }
    // As far further up.
    LoopCode moved(uint64_t bias) const { return {body + bias, body_size, cold + bias, cold_size}; }
    friend bool operator==(const LoopCode&, const LoopCode&) = default;
};

// As layouts have it, and back: from a place in the same file.
inline wire_loop_code loop_from(const LoopCode& code, uint64_t place) {
    return {code.body - place, code.body_size, code.cold - place, code.cold_size};
}
inline LoopCode loop_at(const wire_loop_code& code, uint64_t place) {
    return {place + code.body, code.body_size, place + code.cold, code.cold_size};
}

} // namespace auger
