// SPDX-License-Identifier: GPL-3.0-or-later
// StackShares: how whole the collected user stacks of one program are, where they begin, how many
// of their frames have names; and of those that were cut, where.
#pragma once

#include "bench/report.h"
#include "views/model/model.h"

#include <cstdint>
#include <map>
#include <string>

namespace auger::bench {

struct StackShares {
    using Counts = std::map<std::string, uint64_t>; // samples

    uint64_t samples = 0; // that have a user stack
    uint64_t whole = 0;
    // Whatever auger says of it: where the outermost frame is of code that threads or processes
    // begin in, by its symbol, the file's entry point, or the system call in it that makes threads.
    uint64_t from_the_beginning = 0;
    uint64_t frames = 0; // of user stacks, as addresses
    uint64_t named = 0;
    Series depths;           // in frames
    Counts cut;              // by cause
    Counts cut_at;           // by cause and the outermost frame
    Counts other_beginnings; // outermost functions of whole stacks that are none of those
};

// Of the samples of processes with this name, from a time on.
StackShares stack_shares(const Model& model, const std::string& process, uint64_t from_ns = 0);

} // namespace auger::bench
