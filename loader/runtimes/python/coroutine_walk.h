// SPDX-License-Identifier: GPL-3.0-or-later
// From a coroutine that waits inwards, through what it awaits, to what all of them wait for.
#pragma once

#include "loader/runtimes/python/object_reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace auger {

// Of a function that awaits: what walks of stacks have of its frame (bpf/wire/python.h).
struct AwaitFrame {
    uint64_t code = 0;
    uint64_t second = 0;

    friend bool operator==(const AwaitFrame&, const AwaitFrame&) = default;
};

struct CoroutineWalk {
    enum class End : uint8_t {
        future,    // of asyncio, or one of its tasks
        object,    // of another kind
        nothing,   // it gave way to others, and will go on without having waited
        runs,      // at this moment
        begins,    // it has not run yet
        over,      // it has returned
        too_deep,  // more than `most_frames`
        unreadable // or no coroutine
    };
    static constexpr size_t most_frames = 128;

    std::vector<AwaitFrame> frames; // the outermost first
    End end = End::unreadable;
    uint64_t innermost = 0; // address of the last frame
    uint64_t future = 0;
    std::string awaited; // the class of the object
};

CoroutineWalk walk_coroutine(ObjectReader& objects, uint64_t coroutine);

} // namespace auger
