// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/endpoint_request.h"

#include "repl/services/client_access.h"
#include "repl/services/endpoint_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace auger {
namespace {

using Kind = EndpointRequest::Kind;

struct Resource {
    std::string_view method, path;
    std::string_view parameters; // as they are shown, which are all that there may be
    std::string_view about;
    Kind kind;
};

constexpr std::array resources = {
    Resource{"GET", "/", "", "this list; in a browser the live page", Kind::index},
    Resource{"POST", "/sample", R"( {"numberOfSamples":100,"timeInterval":"10 ms"})",
             R"(what every thread does from now on, as the text of perf script; "pid":"self")",
             Kind::samples},
    Resource{"GET", "/debug/pprof/profile", "?seconds=N&pid=self&threads=1",
             "the same as gzipped profile.proto, for go tool pprof and its kin", Kind::profile},
    Resource{"GET", "/profile.otlp", "?seconds=N&pid=self&threads=1",
             "the same as OpenTelemetry's ProfilesData", Kind::otlp},
    Resource{"GET", "/profile.folded", "?seconds=N&pid=self", "the same as collapsed stacks",
             Kind::collapsed},
    Resource{"GET", "/flame.html", "?class=C&by=KEY&under=FUNCTION&frames=language&window=10s",
             "what was collected as a flame graph", Kind::flame_html},
    Resource{"GET", "/flame", "?class=C&by=KEY&under=FUNCTION&frames=language&window=10s",
             "the same as JSON, as `flame` with --json", Kind::flame},
    Resource{"GET", "/top", "?class=C&window=10s&rows=N", "functions, as `top` with --json",
             Kind::top},
    Resource{"GET", "/diff", "?window=10s", "slow against fast calls, as `diff` with --json",
             Kind::diff},
    Resource{"GET", "/hist", "?probe=NUMBER&window=10s",
             "the durations of a probe's calls, as `hist` with --json", Kind::hist},
    Resource{"GET", "/calls", "?probe=NUMBER&class=C&window=10s&rows=N",
             "slow calls, a line each, as `calls` with --json", Kind::calls},
    Resource{"GET", "/events", "",
             "figures that tell whether anything is new, as a server-sent event every second",
             Kind::events},
    Resource{"GET", "/metrics", "", "histograms, counts and losses for Prometheus", Kind::metrics},
    Resource{"GET", "/status", "", "the ledger as JSON, as `status` with --json", Kind::status},
};

// "?class=C&by=KEY" -> "class", "by".
std::vector<std::string_view> keys_of(std::string_view parameters) {
    std::vector<std::string_view> keys;
    while (!parameters.empty()) {
        const size_t equals = parameters.find('=');
        keys.push_back(parameters.substr(1, equals - 1));
        parameters.remove_prefix(std::min(parameters.find('&', 1), parameters.size()));
    }
    return keys;
}

} // namespace

std::variant<EndpointRequest, HttpAnswer> read_request(const HttpRequest& with_token) {
    HttpRequest request = with_token;
    std::erase_if(request.query,
                  [](const auto& parameter) { return parameter.first == token_parameter; });
    if (asked_by_stranger(request))
        return to_a_stranger();
    const auto* resource = std::ranges::find(resources, request.path, &Resource::path);
    if (resource == resources.end())
        return HttpAnswer{404, "no such resource; there are:\n" + endpoint_index()};
    const bool allowed = request.method == resource->method ||
                         (request.method == "HEAD" && resource->method == "GET");
    if (!allowed) {
        HttpAnswer refused{405, fmt::format("{} takes {}\n", resource->path, resource->method)};
        refused.headers.emplace_back("Allow", resource->method);
        return refused;
    }
    return resource->kind == Kind::samples
               ? read_samples(request)
               : read_parameters(resource->kind, request, keys_of(resource->parameters));
}

std::string endpoint_index() {
    std::string text;
    for (const Resource& one : resources)
        text +=
            fmt::format("{:<4} {}{}\n     {}\n", one.method, one.path, one.parameters, one.about);
    return text;
}

} // namespace auger
