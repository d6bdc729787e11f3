// SPDX-License-Identifier: GPL-3.0-or-later
// What a context switch costs while this or that is in force: two threads of our own hand one CPU
// to each other, by a pipe each way, and the CPU time of both is read, of which the kernel gives
// all of a switch to the thread that comes.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

namespace auger {

// There and back.
inline constexpr unsigned switches_a_round = 2, wakeups_a_round = 2;

struct SwitchTrial {
    // What is in force for these two threads, and for no others, from when it is called until what
    // it returns is gone. It may be empty; false: it cannot be.
    std::function<bool(const std::array<pid_t, 2>& threads)> begin = {};
    // A counter of ns by which the costs grow that are known, and are not to be told here.
    std::function<uint64_t()> known_ns = {};
    // It costs more at some times than at others within so long.
    uint64_t cycle_ns = 0;
};

// CPU time of a round, in ns: the mean of some batches but the dearest tenth, in which others came
// in between. Takes some milliseconds and a cycle, on a busy machine 30 and two cycles; nothing
// when no batch came to its end in that time.
std::optional<double> measure_round(const SwitchTrial& trial);

} // namespace auger
