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
    // Which of some batches is told. Others may come in between, and make one dearer.
    double quantile = 0.5;
    // A counter of ns by which the costs grow that are known, and are not to be told here.
    std::function<uint64_t()> known_ns = {};
};

// CPU time of a round, in ns. Takes some milliseconds, on a busy machine 30; nothing when no batch
// came to its end in that time.
std::optional<double> measure_round(const SwitchTrial& trial);

} // namespace auger
