// SPDX-License-Identifier: GPL-3.0-or-later
// From where a function is called. Changes when more is told of a call instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace auger {

// One instruction by which a function is called.
struct CallSiteInfo {
    std::string function; // that it calls, demangled, without parameters
    std::string caller;   // likewise
    std::string file;     // empty when there is no line information
    uint32_t line = 0;
    std::string module;  // path
    uint64_t offset = 0; // of the call instruction in the file, bytes
    std::string kind;    // as in ProbePlace
};

struct CallSites {
    std::vector<CallSiteInfo> sites;
    std::vector<std::string> skipped; // that cannot be timed, with the reason
};

} // namespace auger
