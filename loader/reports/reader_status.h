// SPDX-License-Identifier: GPL-3.0-or-later
// What the processes hold that read files for auger. Changes when more is told of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace auger {

// Processes that read files for auger.
struct ReaderStatus {
    struct Service {
        size_t processes = 0;
        uint64_t bytes = 0; // of memory that they hold
    };
    std::map<std::string, Service> services; // by what they do: "names"
    uint64_t limit = 0;                      // bytes that all together may hold
};

} // namespace auger
