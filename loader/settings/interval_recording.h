// SPDX-License-Identifier: GPL-3.0-or-later
// `record DIR every SPAN keep N auger`: the stream as a recording of each interval. Changes with
// what can be asked of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace auger {

struct IntervalRecording {
    std::string folder; // empty: none are written
    uint64_t every_ns = 0;
    size_t keep = 0; // recordings; older ones go
    friend bool operator==(const IntervalRecording&, const IntervalRecording&) = default;
};

} // namespace auger
