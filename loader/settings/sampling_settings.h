// SPDX-License-Identifier: GPL-3.0-or-later
// What is sampled, and how often. Changes when sampling can be set in another way.
#pragma once

#include "loader/stream/events.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace auger {

inline constexpr size_t most_go_label_key = 24; // bytes: WIRE_GO_LABEL_KEY

struct SamplingSettings {
    uint32_t rate_hz = 0; // 1 to 49,999; 0: off
    bool wall = false;    // waits too, in the same unit: wall-clock time
    // A higher rate for what this gate lets through; 0: none. Then rate_hz may be 0: nothing else
    // is sampled.
    uint32_t raised_hz = 0;
    Gate raised{};
    bool wakers = false; // with `wall`: blocked stacks go on with the stack of who woke them
    // With `wall`: waits at a lower rate than what runs, and stacks only of waits in which a sample
    // is to be expected; 0: as everything else.
    uint32_t waits_hz = 0;
    bool tasks = false; // stacks of CPython's say which task of an event loop runs
    // Stacks of Go's say the goroutine's label of this key; empty: of none.
    std::string go_label{};
    friend bool operator==(const SamplingSettings&, const SamplingSettings&) = default;
};

} // namespace auger
