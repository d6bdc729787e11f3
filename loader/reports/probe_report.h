// SPDX-License-Identifier: GPL-3.0-or-later
// What came of a probe that was asked for. Changes when more is told of its places.
#pragma once

#include "loader/base/ids.h"

#include <cstdint>
#include <string>
#include <vector>

namespace auger {

// What a probe's text matched, for the list that the user sees.
struct ProbePlace {
    SpecId spec;
    std::string function; // demangled
    std::string module;   // path
    uint64_t offset = 0;  // of the function in the file, bytes
    std::string kind;     // "entry+ret" , "entry+trampoline"
    std::string note;     // "1 exit is a tail call", "clone .constprop.0" ...; may be empty
};

struct ProbeReport {
    std::vector<ProbePlace> places;
    // Functions that matched and were not probed, with the reason.
    std::vector<std::string> skipped;
    // True when nothing matches yet and the probe waits for its library to be loaded.
    bool pending = false;
    std::vector<std::string> notes; // for the user: which way out was chosen and why, ...
};

} // namespace auger
