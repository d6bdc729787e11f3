// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that are worth timing, found in samples: those that do one piece of work and return.
//
// Samples do not show calls, but two of one thread, one after the other, tell when a call has
// returned: the former had the function on its stack, at the end of one path of callers, and the
// latter has not. That bounds the number of returns from below. What was never seen to return is
// main, a thread's start or an event loop: the work is in what it calls. So the stacks are followed
// from the outermost caller on until a function was seen to return some times. One in which the
// thread also waits for work (epoll_wait, poll, accept) is one turn of an event loop: the work is
// below it, too. So it is below what cannot be timed or says nothing of the program: the C and C++
// libraries' functions that call back, an interpreter's loop and the functions of the language that
// it executes, inlined functions, names that are not known.
#pragma once

#include "views/model/model.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace auger {

struct Suggestion {
    FunctionId function; // as shown
    double cpu_ns = 0;   // of the time in it: on the CPU, or waiting for one
    double blocked_ns = 0;
    uint64_t returns = 0; // that were seen; there may be many more
};

struct Suggestions {
    std::vector<Suggestion> functions; // most time on the CPU first
    // Turns of event loops, what such a one waits in, and what calls it, in which requests take
    // turns: ascending. Known by samples of waits only.
    std::vector<FunctionId> loops;
    uint64_t samples = 0; // that were looked at: the last ones
    double cpu_ns = 0;    // of all of them
};

// Fewer say nothing about anything.
inline constexpr uint64_t least_samples_to_suggest = 100;

// Looks at no more than the last `most_samples`; some 50 ns each, and some microseconds for each
// distinct stack.
Suggestions suggest_functions(const Model&, size_t most_samples);

} // namespace auger
