// SPDX-License-Identifier: GPL-3.0-or-later
// What timing a probe would do, while nothing is attached. Changes when more is to be told of it
// beforehand.
#pragma once

#include "loader/reports/probe_report.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

struct ProbePlan {
    // What the probes of one call cost the thread that makes it, in ns: where it leaves by the exit
    // that is probed at the lowest cost, and by the dearest. Of a place that is only counted both
    // are of one hit.
    struct Cost {
        uint64_t least_ns = 0;
        uint64_t most_ns = 0;
    };

    ProbeReport report;                     // its places have no specs
    std::vector<std::optional<Cost>> costs; // of each place; nothing: it is not known
    bool costs_measured = false;            // else they are those of some other machine
};

} // namespace auger
