// SPDX-License-Identifier: GPL-3.0-or-later
// value_move: from where to where one instruction takes a value as it is, or plus a constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

constexpr uint8_t no_register_number = 0xff;

struct ValueMove {
    enum class Kind : uint8_t {
        none,  // something else
        copy,  // number = base + amount
        load,  // number = *place
        store, // *place = number, or another value
        push,  // of number
        pop,   // into number
        leave, // the stack pointer gets the frame pointer's value, which is then popped
        jump,  // to where number points
        stop,  // never goes on
    };

    Kind kind = Kind::none;
    // Registers are numbered as in machine code (register_writes.h). None: of a store or a push,
    // another value than a whole register's.
    uint8_t number = no_register_number;
    // A place is memory at base + index * scale + amount.
    uint8_t base = no_register_number;
    uint8_t index = no_register_number;
    uint8_t scale = 0;
    int64_t amount = 0;
    uint8_t bytes = 0; // of the place, or of the registers
};

// Of the instruction at the begin of `bytes`.
ValueMove value_move(std::span<const std::byte> bytes);

} // namespace auger
