// SPDX-License-Identifier: GPL-3.0-or-later
// Where Python's frames go in a stack, up to 3.10: behind the native frame of the run of the loop
// that executes them, which is one for each.
#pragma once

#include "bpf/unwind_table.h"
#include "loader/runtimes/loop_code.h"

#include <cstdint>
#include <span>
#include <vector>

namespace auger {

// Whether a pair of words that begins so is one of Python's.
inline bool is_python_word(uint64_t first) {
    return (first & WIRE_FRAME_KIND) == WIRE_FRAME_PYTHON;
}

// A stack's words, as of bpf/unwind_table.h, with Python's frames in their places. A walk has put
// them there from the innermost one on, not knowing yet how many there are: where a run of the loop
// has no frame yet, or none any more, each stands one run too far in. `loop`:
// _PyEval_EvalFrameDefault() in the process.
std::vector<uint64_t> place_python_frames(std::span<const uint64_t> words, const LoopCode& loop,
                                          bool leaf_is_return);

} // namespace auger
