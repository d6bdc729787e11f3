// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a Go program beside its functions: where its runtime keeps goroutines, and where
// they end.
#pragma once

#include "bpf/go_runtime.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

// Where the runtime makes goroutines, takes them off threads, puts them on again, and ends them.
struct GoSwitchPlace {
    wire_go_switch what;
    uint64_t offset; // in the file
};

struct GoPlaces {
    std::optional<wire_go_runtime> runtime; // nothing: it is of a version that is not understood
    std::optional<uint64_t> goroutine_end;  // offset in the file
    std::vector<GoSwitchPlace> switches;    // empty: they are not understood
};

} // namespace auger
