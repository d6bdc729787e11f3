// SPDX-License-Identifier: GPL-3.0-or-later
// Which calls are to be told with their parts. Changes when they can be taken apart in another way.
#pragma once

#include "loader/base/ids.h"

#include <vector>

namespace auger {

struct ExplainRequest {
    bool active = false;
    ProbeId probe{};           // whose calls
    std::vector<ProbeId> by{}; // whose functions are the parts; empty: all that are timed
    friend bool operator==(const ExplainRequest&, const ExplainRequest&) = default;
};

} // namespace auger
