// SPDX-License-Identifier: GPL-3.0-or-later
// Where an interpreter's own frames go in a stack: what one run of the interpreter's loop executes,
// a piece of their chain, stands behind the native frame of that run.
#pragma once

#include "bpf/unwind_table.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace auger {

// Words as of bpf/unwind_table.h, leaf first.
struct NativeFrames {
    std::span<const uint64_t> words;
    bool leaf_is_next = true; // the first one is the next instruction, else a return address
    // They end where the thread's (or fiber's) stack does. Then the outermost run has the outermost
    // piece. Else it is the innermost ones that belong together, as far as that can be told: while
    // a run is about to begin, or has just ended, there is one piece too many, or one too few.
    bool whole = true;
};

// How many of them are runs of the loop.
size_t count_loops(const NativeFrames& natives, const std::function<bool(uint64_t code)>& is_loop);

// The native words with `pieces` among them, pairs of words of which one without an address ends
// each piece, and is left out. `is_loop`: whether code is the loop's. What is left over stands at
// the leaf of a whole stack (it is about to run), else behind the outermost frame; there stands
// also, of a whole stack, what is behind the last boundary: no run of the loop has called it.
std::vector<uint64_t> place_pieces(const NativeFrames& natives, std::span<const uint64_t> pieces,
                                   const std::function<bool(uint64_t code)>& is_loop);

} // namespace auger
