// SPDX-License-Identifier: GPL-3.0-or-later
// What call frame information would say of a function that has none (musl's C library, hand-written
// assembly), told from its instructions: how far the stack pointer is from where it was at the
// function's begin, and where rbp and rbx were put. Where this cannot be told nothing is said.
#pragma once

#include "loader/reader/tables/frame_program.h"

#include <vector>

namespace auger {

struct CodeFrames {
    std::vector<FrameRow> rows; // ascending; of rule WIRE_CFA_NONE where nothing can be told
    uint64_t end;               // behind the last instruction that belongs to the function
    // Where other functions begin: targets of calls, of jumps out of this one, and addresses of
    // code that it takes.
    std::vector<uint64_t> others;
};

// `code`: from the function's first byte up to where it ends at the latest.
CodeFrames frames_of_code(Bytes code, uint64_t address);

} // namespace auger
