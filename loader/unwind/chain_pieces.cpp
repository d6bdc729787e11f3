// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/chain_pieces.h"

#include <utility>

namespace auger {
namespace {

bool is_boundary(uint64_t first) {
    return !(first & ~WIRE_FRAME_KIND);
}

struct Parts {
    std::vector<std::span<const uint64_t>> bounded;
    std::span<const uint64_t> rest; // behind the last boundary
};

Parts split(std::span<const uint64_t> pieces) {
    Parts parts;
    size_t begin = 0;
    for (size_t at = 0; at + 1 < pieces.size(); at += 2) {
        if (!is_boundary(pieces[at]))
            continue;
        parts.bounded.push_back(pieces.subspan(begin, at - begin));
        begin = at + 2;
    }
    parts.rest = pieces.subspan(begin, (pieces.size() - begin) / 2 * 2);
    return parts;
}

// Where in the words the loop's runs are, leaf first.
std::vector<size_t> find_loops(const NativeFrames& natives,
                               const std::function<bool(uint64_t code)>& is_loop) {
    const std::span<const uint64_t> words = natives.words;
    std::vector<size_t> loops;
    for (size_t i = 0; i < words.size(); i++) {
        // Of another runtime in the process.
        if (words[i] & WIRE_FRAME_RUNTIME) {
            i++;
            continue;
        }
        const bool is_next = i == 0 ? natives.leaf_is_next : (words[i] & WIRE_FRAME_EXACT) != 0;
        const uint64_t address = words[i] & ~WIRE_FRAME_EXACT;
        if (is_loop(is_next ? address : address - 1))
            loops.push_back(i);
    }
    return loops;
}

} // namespace

size_t count_loops(const NativeFrames& natives, const std::function<bool(uint64_t code)>& is_loop) {
    return find_loops(natives, is_loop).size();
}

std::vector<uint64_t> place_pieces(const NativeFrames& natives, std::span<const uint64_t> pieces,
                                   const std::function<bool(uint64_t code)>& is_loop) {
    const std::span<const uint64_t> words = natives.words;
    auto [parts, rest] = split(pieces);
    // Of a stack that is cut it may be a run's of which the boundary is not known.
    if (!natives.whole && !rest.empty())
        parts.push_back(std::exchange(rest, {}));
    const std::vector<size_t> loops = find_loops(natives, is_loop);
    std::vector<uint64_t> placed;
    const auto place = [&](std::span<const uint64_t> part) {
        placed.insert(placed.end(), part.begin(), part.end());
    };
    size_t part = 0, loop = 0;
    if (natives.whole) {
        for (; parts.size() - part > loops.size(); part++)
            place(parts[part]);
        loop = loops.size() - (parts.size() - part);
    }
    const size_t leaf = placed.size();
    for (size_t i = 0; i < words.size(); i++) {
        placed.push_back(words[i]);
        if (loop < loops.size() && loops[loop] == i) {
            loop++;
            if (part < parts.size())
                place(parts[part++]);
        }
    }
    // Of a first word alone it is known without being said.
    if (leaf > 0 && leaf < placed.size() && natives.leaf_is_next &&
        !(placed[leaf] & WIRE_FRAME_RUNTIME))
        placed[leaf] |= WIRE_FRAME_EXACT;
    for (; part < parts.size(); part++)
        place(parts[part]);
    place(rest);
    return placed;
}

} // namespace auger
