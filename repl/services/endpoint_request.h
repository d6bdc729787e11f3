// SPDX-License-Identifier: GPL-3.0-or-later
// What a request to the sampling endpoint asks for. Pure: everything that a client can get wrong is
// found here, in the server's thread.
//
//     POST /sample  {"numberOfSamples":100,"timeInterval":"10 ms"}   as Swift Profile Recorder's
//     GET  /debug/pprof/profile?seconds=N                            as Go's net/http/pprof
//     GET  /profile.otlp?seconds=N                                   for OpenTelemetry
//     GET  /profile.folded?seconds=N                                 for who reads it by itself
//     GET  /flame.html, /flame, /top, /diff, /hist, /calls   what was collected
//     GET  /events                                           that there is more of it
//     GET  /metrics, /status, /
#pragma once

#include "repl/services/http_server.h"
#include "views/exports/export.h"

#include <optional>
#include <string>
#include <variant>

namespace auger {

// At which clients have the target sampled while the user does not: a profile needs no more, and a
// client that could have 49 kHz could make any program slow. Where the user samples faster, clients
// may have as much.
inline constexpr uint32_t client_rate_hz = 999;
// For which a request has it sampled: what takes longer is the business of `record`.
inline constexpr uint64_t longest_request_ns = 600'000'000'000;

struct EndpointRequest {
    enum class Kind {
        index,
        samples,
        profile,
        otlp,
        collapsed,
        flame_html,
        metrics,
        // The answers of commands, as JSON.
        status,
        flame,
        top,
        diff,
        hist,
        calls,
        events,
    };
    Kind kind = Kind::index;
    std::optional<pid_t> asker{}; // the process that made the connection, where it is known
    // Of samples, profile, otlp and collapsed: what is sampled from now on. Of one process, which
    // may be the one that asks ("self"), `selection` says so.
    uint64_t duration_ns = 0;
    uint64_t interval_ns = 0; // between two samples of a thread
    // Of what was collected.
    SampleSelection selection{};
    std::optional<Window> window{}; // else the one in force
    std::optional<ProbeId> probe{}; // else all
    std::optional<size_t> rows{};   // of a list; else all
    bool protobuf = false;          // metrics in this form, not as text
    // Of profile and otlp: whether samples are labelled with their thread. Stores keep a series for
    // each label.
    bool threads = false;
};

// The request, or the answer that says what is wrong with it.
std::variant<EndpointRequest, HttpAnswer> read_request(const HttpRequest&);

// What can be asked for, a line each.
std::string endpoint_index();

} // namespace auger
