// SPDX-License-Identifier: GPL-3.0-or-later
// What of an interval is sent at once: all of it, or parts of its time that follow each other,
// where it is more than what takes a protocol takes at once. Each sample is in one of them.
#pragma once

#include "repl/services/interval_writer.h"
#include "repl/services/receivers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace auger {

struct IntervalPart {
    uint64_t begin_ns, end_ns; // (begin, end]
    uint64_t samples;
    std::string body; // of the request
};

// `query`: of the interval, but for its window. Halved until none is too large or they are too
// short, which the receiver may have room for all the same. Those without samples are left out.
std::vector<IntervalPart> interval_parts(const ReceiverProtocol& protocol, const Model& model,
                                         const ExportQuery& query, uint64_t begin_ns,
                                         uint64_t end_ns);

} // namespace auger
