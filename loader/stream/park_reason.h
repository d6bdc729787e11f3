// SPDX-License-Identifier: GPL-3.0-or-later
// What a parked goroutine waits for, by the names that Go's runtime has for it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace auger {

inline constexpr size_t park_reasons = 16;

// By wire_go_reason, as loader/kernel/go_switches.cpp makes sure.
inline constexpr std::array<std::string_view, park_reasons> park_reason_names = {
    "other",
    "IO wait",
    "chan receive",
    "chan send",
    "select",
    "semacquire",
    "sync.Mutex.Lock",
    "sync.RWMutex.RLock",
    "sync.RWMutex.Lock",
    "sync.Cond.Wait",
    "sync.WaitGroup.Wait",
    "sleep",
    "GC assist",
    "GC",
    "coroutine",
    "",
};

} // namespace auger
