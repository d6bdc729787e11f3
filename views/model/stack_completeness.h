// SPDX-License-Identifier: GPL-3.0-or-later
// How many of the kept samples have a whole stack, up to its thread's first function, and why the
// others have not.
#pragma once

#include "views/model/model.h"

#include <cstdint>
#include <map>
#include <string>

namespace auger {

struct StackCompleteness {
    uint64_t whole = 0;                  // samples
    uint64_t probe_handling = 0;         // of all: the kernel at work for probes
    std::map<std::string, uint64_t> cut; // samples by cause: "no call frame information"

    uint64_t samples() const;
};

StackCompleteness stack_completeness(const Model&);

} // namespace auger
