// SPDX-License-Identifier: GPL-3.0-or-later
// WorkProgress: what a thread that reads a module tells the others, and the wish to stop.
#pragma once

#include <atomic>
#include <cstdint>

namespace auger {

struct WorkProgress {
    std::atomic<bool>* stop = nullptr; // set by another thread; null: never
    std::atomic<uint64_t> done{0};
    std::atomic<uint64_t> total{0}; // 0: not known

    bool stopped() const { return stop && stop->load(std::memory_order_relaxed); }
};

} // namespace auger
