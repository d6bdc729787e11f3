// SPDX-License-Identifier: GPL-3.0-or-later
// What a thread does at this moment. Changes when more is told of it.
#pragma once

#include "loader/base/ids.h"
#include "loader/stream/events.h"

#include <string>
#include <vector>

namespace auger {

struct ThreadNow {
    ThreadInfo thread;
    bool running = false; // on a CPU, or waiting for one: its present stack cannot be read
    std::string wait;     // what it waits in and for: "recvfrom(9) tcp ..."; empty: unknown
    std::vector<LocationId> stack; // leaf first; empty: could not be read

    // Something more, behind what it waits for.
    void add_remark(const std::string& remark) { wait += (wait.empty() ? "" : "; ") + remark; }
};

} // namespace auger
