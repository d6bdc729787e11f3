// SPDX-License-Identifier: GPL-3.0-or-later
// What a request to the sampling endpoint asks for. Pure: everything that a client can get wrong is
// found here, in the server's thread.
//
//     POST /sample  {"numberOfSamples":100,"timeInterval":"10 ms"}   as Swift Profile Recorder's
//     GET  /debug/pprof/profile?seconds=N                            as Go's net/http/pprof
//     GET  /flame.html?class=C&by=KEY&under=F&window=10s
//     GET  /metrics, /status, /
#pragma once

#include "repl/services/http_server.h"
#include "views/exports/export.h"

#include <optional>
#include <string>
#include <variant>

namespace auger {

struct EndpointRequest {
    enum class Kind { index, samples, profile, flame, metrics, status };
    Kind kind = Kind::index;
    // Of samples and profile: what is sampled from now on.
    uint64_t duration_ns = 0;
    uint64_t interval_ns = 0; // between two samples of a thread
    // Of flame.
    SampleSelection selection;
    std::optional<Window> window; // else the one in force
};

// The request, or the answer that says what is wrong with it.
std::variant<EndpointRequest, HttpAnswer> read_request(const HttpRequest&);

// What can be asked for, a line each.
std::string endpoint_index();

} // namespace auger
