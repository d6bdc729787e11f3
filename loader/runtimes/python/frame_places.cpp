// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/frame_places.h"

#include "loader/unwind/chain_pieces.h"

namespace auger {

std::vector<uint64_t> place_python_frames(std::span<const uint64_t> words, const LoopCode& loop,
                                          bool leaf_is_return) {
    std::vector<uint64_t> natives, pieces;
    size_t frames = 0, at = 0;
    for (; at < words.size() && !(words[at] & WIRE_STACK_CUT); at++) {
        if (!(words[at] & WIRE_FRAME_RUNTIME)) {
            natives.push_back(words[at]);
            continue;
        }
        if (at + 1 == words.size())
            break;
        const uint64_t first = words[at], second = words[++at];
        if (!is_python_word(first)) {
            natives.insert(natives.end(), {first, second});
            continue;
        }
        const bool is_frame = !wire_python_is_of_task(second);
        if (is_frame && frames++ > 0)
            pieces.insert(pieces.end(), {WIRE_FRAME_PYTHON, 0});
        pieces.insert(pieces.end(), {first, second});
    }
    pieces.insert(pieces.end(), {WIRE_FRAME_PYTHON, 0});
    const auto cut = words.subspan(at);
    const auto is_loop = [&](uint64_t code) { return loop.holds(code); };
    NativeFrames stack{natives, !leaf_is_return, cut.empty()};
    const size_t runs = count_loops(stack, is_loop);
    // A run that has no frame yet, or none any more, is the innermost one. Where more lack theirs,
    // the outer ones are another interpreter's.
    stack.whole &= runs <= frames + 1;
    auto placed = place_pieces(stack, pieces, is_loop);
    placed.insert(placed.end(), cut.begin(), cut.end());
    return placed;
}

} // namespace auger
