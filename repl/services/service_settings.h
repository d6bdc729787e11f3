// SPDX-License-Identifier: GPL-3.0-or-later
// What goes on while nobody types, as a user sets it.
#pragma once

#include "loader/base/ids.h"
#include "repl/services/receivers.h"
#include "views/exports/export.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace auger {

// `record DIR every SPAN keep N FORMAT...`: files of each interval.
struct IntervalFiles {
    std::string folder; // empty: none are written
    uint64_t every_ns = 0;
    size_t keep = 0; // intervals; files of older ones go
    std::vector<const ExportFormat*> formats;
    bool recordings = false; // auger's own, beside these
    friend bool operator==(const IntervalFiles&, const IntervalFiles&) = default;
};

// `on slow PROBE > T record last SPAN ...`: what led to a slow call is kept as a recording. How
// slow that is stands with the probe, whose slow calls are traced.
struct Trigger {
    ProbeId probe;
    uint64_t span_ns = 0;
    std::string folder;   // of the files
    uint64_t rest_ns = 0; // between two recordings, at least
    size_t keep = 0;      // recordings; older ones go
    friend bool operator==(const Trigger&, const Trigger&) = default;
};

// `serve ADDRESS token FILE`: where the endpoint listens.
struct ServedAddress {
    std::string address;      // as typed
    std::string token_file{}; // whose token clients need there; empty: a new one's (of a port)
    std::string user{};       // who is answered besides, of its own processes (of a unix socket)
    friend bool operator==(const ServedAddress&, const ServedAddress&) = default;
};

// `ship PROTOCOL URL every SPAN ...`: each interval's samples go to a receiver.
struct Shipping {
    const ReceiverProtocol* protocol = nullptr; // null: nothing is shipped
    // With that, which receiver it is.
    std::string url{};
    uint64_t every_ns = 0;
    std::string service{};          // what they are called there; empty: as the target
    std::string header_file{};      // of what is sent along; empty: nothing is
    std::string certificate_file{}; // of who signs the receiver's; empty: those this machine trusts
    std::string spool{};            // the folder where they wait; empty: one of the user's
    uint64_t keep_ns = 0, bytes = 0; // that they may wait, and take there
    bool threads = false;            // whether they are told apart

    bool is_to_the_same(const Shipping& other) const {
        return protocol == other.protocol && url == other.url;
    }
    friend bool operator==(const Shipping&, const Shipping&) = default;
};

// `overhead`: the share of the target's CPU time that observing may take, in percent.
struct OverheadLimit {
    double percent = 50;
    bool brakes = true; // false: nothing is done, but said

    // From here on it is said.
    double warn_percent() const { return brakes ? std::min(percent / 5, 5.0) : 5; }
    friend bool operator==(const OverheadLimit&, const OverheadLimit&) = default;
};

} // namespace auger
