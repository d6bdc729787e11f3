// SPDX-License-Identifier: GPL-3.0-or-later
// What the bytes of code tell of a frame where no rule covers it, as the kernel side reads them
// (walk_code.h in bpf/arch).
#pragma once

#include "loader/base/memory.h"

namespace auger {

// Whether `address` stands behind a call instruction.
bool is_behind_call(Memory& memory, uint64_t address);

// Of a function that is being entered or left.
enum class Prologue {
    unknown,
    nothing_pushed, // the return address is at the stack pointer
    pushed_rbp,     // ... and the caller's rbp before it
};
Prologue read_prologue(Memory& memory, uint64_t address);

} // namespace auger
