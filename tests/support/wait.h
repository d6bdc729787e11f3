// SPDX-License-Identifier: GPL-3.0-or-later
// Waiting for what other processes do: a condition, looked at again and again, with a limit so
// generous that only what never happens reaches it.
#pragma once

#include <chrono>
#include <thread>

namespace auger::test {

template <typename Condition>
bool wait_until(Condition condition) {
    using namespace std::chrono_literals;
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit)
            return false;
        std::this_thread::sleep_for(20ms);
    }
    return true;
}

} // namespace auger::test
