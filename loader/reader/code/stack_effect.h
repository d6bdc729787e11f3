// SPDX-License-Identifier: GPL-3.0-or-later
// stack_effect: what one instruction does to the frame of the function that it is in: to the
// stack pointer, and to rbp and rbx, which a function must give back as it got them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

struct StackEffect {
    enum class Kind : uint8_t {
        none,       // the stack pointer stays (also over a call)
        add,        // rsp += amount
        push,       // of `saved`; rsp -= 8
        pop,        // into `saved`; rsp += 8
        store,      // *(base + amount) = saved
        load,       // saved = *(base + amount)
        set_frame,  // rbp = rsp + amount
        from_frame, // rsp = rbp + amount
        leave,      // rsp = rbp, then pop into rbp
        unknown,    // rsp gets a value that the instruction alone does not tell
    };
    enum class Register : uint8_t { none, rbx, rbp, rsp };

    Kind kind = Kind::none;
    Register saved = Register::none; // rbx, rbp, or none for another
    Register base = Register::none;  // rbp or rsp
    int64_t amount = 0;
    // In a way that `kind` does not tell.
    bool writes_rbx = false;
    bool writes_rbp = false;
    bool zeroes_rbp = false;   // xor ebp, ebp: the ABI's sign of the outermost frame
    uint64_t code_pointer = 0; // lea of an address relative to the instruction pointer; else 0
};

// Of the instruction at the begin of `bytes`; they must be valid (decoder.h).
StackEffect stack_effect(std::span<const std::byte> bytes, uint64_t address);

} // namespace auger
