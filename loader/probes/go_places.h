// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a Go program beside its functions: where its runtime keeps goroutines, and where
// they end.
#pragma once

#include "bpf/go_runtime.h"

#include <cstdint>
#include <optional>

namespace auger {

struct GoPlaces {
    std::optional<wire_go_runtime> runtime; // nothing: it is of a version that is not understood
    std::optional<uint64_t> goroutine_end;  // offset in the file
};

} // namespace auger
