// SPDX-License-Identifier: GPL-3.0-or-later
// How it stands with the recordings of intervals. Changes with what is told of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace auger {

struct IntervalRecordings {
    uint64_t written = 0;      // whole
    uint64_t failed = 0;       // some of their events are in none
    std::string last;          // when the last one began: "20261121T232000.000Z"
    std::string first_problem; // of those that failed

    // Of others, which came later or at the same time.
    IntervalRecordings& operator+=(const IntervalRecordings& others) {
        written += others.written;
        failed += others.failed;
        last = std::max(last, others.last);
        if (first_problem.empty())
            first_problem = others.first_problem;
        return *this;
    }
};

} // namespace auger
