// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/endpoint_request.h"

#include "repl/language/arguments.h"
#include "repl/language/complaint.h"
#include "repl/language/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace auger {
namespace {

using Read = std::variant<EndpointRequest, HttpAnswer>;
using Kind = EndpointRequest::Kind;

constexpr uint64_t second_ns = 1'000'000'000;
constexpr uint64_t shortest_interval_ns = 20'408; // of 49,000 Hz, the most that a user may have
constexpr uint64_t longest_interval_ns = 60 * second_ns;
constexpr uint64_t profile_interval_ns = 10'000'000; // as Go's
constexpr uint64_t default_profile_ns = 30 * second_ns;
constexpr std::string_view token_parameter = "token";

HttpAnswer bad(unsigned status, std::string text) {
    return HttpAnswer{status, std::move(text) + "\n"};
}

// "127.0.0.1:8080" -> "127.0.0.1", "[::1]:8080" -> "[::1]".
std::string_view host_name(std::string_view host) {
    const size_t colon = host.rfind(':');
    const size_t bracket = host.rfind(']');
    return colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)
               ? host
               : host.substr(0, colon);
}

// A web page elsewhere may make its visitor's browser ask us, by a name that it has made mean this
// machine, or blindly.
bool asked_by_stranger(const HttpRequest& request) {
    constexpr std::array<std::string_view, 5> ours{"", "localhost", "127.0.0.1", "[::1]", "unix"};
    if (std::ranges::find(ours, host_name(request.host)) == ours.end())
        return true;
    return !request.origin.empty() && request.origin != "http://" + request.host;
}

// "10 ms" as well as "10ms".
std::optional<uint64_t> read_interval(std::string text) {
    std::erase(text, ' ');
    return read_duration(text);
}

Read read_samples(const HttpRequest& request) {
    constexpr const char* form = R"(send {"numberOfSamples":100,"timeInterval":"10 ms"})";
    const auto json = nlohmann::json::parse(request.body, nullptr, false);
    if (!json.is_object())
        return bad(400, fmt::format("the request's body is no JSON object: {}", form));
    EndpointRequest read{Kind::samples, 0, 0, {}, {}};
    uint64_t samples = 0;
    for (const auto& [key, value] : json.items()) {
        if (key == "numberOfSamples") {
            if (!value.is_number_unsigned() || value.get<uint64_t>() == 0)
                return bad(400, "numberOfSamples is a number of at least 1");
            samples = value.get<uint64_t>();
        } else if (key == "timeInterval") {
            const auto interval =
                value.is_string() ? read_interval(value.get<std::string>()) : std::nullopt;
            if (!interval)
                return bad(400, R"(timeInterval is a duration such as "10 ms")");
            read.interval_ns = *interval;
        } else {
            return bad(400, fmt::format("there is no \"{}\": {}", printable(key), form));
        }
    }
    if (samples == 0 || read.interval_ns == 0)
        return bad(400, fmt::format("numberOfSamples and timeInterval are needed: {}", form));
    if (read.interval_ns < shortest_interval_ns || read.interval_ns > longest_interval_ns)
        return bad(400, "timeInterval is between 21 us and 60 s");
    if (samples > longest_request_ns / read.interval_ns)
        return bad(400, "numberOfSamples times timeInterval is at most 10 minutes");
    read.duration_ns = samples * read.interval_ns;
    return read;
}

Read read_profile(const HttpRequest& request) {
    EndpointRequest read{Kind::profile, default_profile_ns, profile_interval_ns, {}, {}};
    for (const auto& [key, value] : request.query) {
        if (key != "seconds")
            return bad(400, fmt::format("there is no \"{}\": only seconds", printable(key)));
        const auto duration = read_duration(value + "s");
        if (!duration || *duration == 0 || *duration > longest_request_ns)
            return bad(400, "seconds is a number above 0, up to 600");
        read.duration_ns = *duration;
    }
    return read;
}

Read read_flame(const HttpRequest& request) {
    EndpointRequest read{Kind::flame, 0, 0, {}, {}};
    for (const auto& [key, value] : request.query) {
        if (key == "class") {
            auto filter = class_of(Word{value, {0, value.size()}});
            if (!filter)
                return bad(400, printable(filter.complaint().message));
            read.selection.filter = std::move(*filter);
        } else if (key == "by") {
            const auto* name = std::find(group_names.begin(), group_names.end(), value);
            if (name == group_names.end())
                return bad(400, fmt::format("by is one of {}", fmt::join(group_names, ", ")));
            read.selection.by = static_cast<GroupBy>(name - group_names.begin());
        } else if (key == "under") {
            read.selection.under = value;
        } else if (key == "window") {
            const auto span = read_duration(value);
            if ((!span || *span == 0) && value != "all")
                return bad(400, "window is a duration such as 10s, or all");
            read.window = span ? Window{Window::Kind::last, *span, 0} : Window{};
        } else {
            return bad(400, fmt::format("there is no \"{}\": only class, by, under and window",
                                        printable(key)));
        }
    }
    return read;
}

template <Kind kind>
Read read_plain(const HttpRequest& request) {
    if (!request.query.empty())
        return bad(400, fmt::format("{} takes no parameters", request.path));
    return EndpointRequest{kind, 0, 0, {}, {}};
}

struct Resource {
    std::string_view method, path, parameters, about;
    Read (*read)(const HttpRequest&);
};

constexpr std::array resources = {
    Resource{"GET", "/", "", "this list", read_plain<Kind::index>},
    Resource{"POST", "/sample", R"( {"numberOfSamples":100,"timeInterval":"10 ms"})",
             "what every thread does from now on, as the text of perf script", read_samples},
    Resource{"GET", "/debug/pprof/profile", "?seconds=N",
             "the same as gzipped profile.proto, for go tool pprof and its kin", read_profile},
    Resource{"GET", "/flame.html", "?class=C&by=KEY&under=FUNCTION&window=10s",
             "what was collected as a flame graph", read_flame},
    Resource{"GET", "/metrics", "", "percentiles, counts and losses for Prometheus",
             read_plain<Kind::metrics>},
    Resource{"GET", "/status", "", "the ledger as JSON, as `status` with --json",
             read_plain<Kind::status>},
};

} // namespace

bool knows(const HttpRequest& request, const AccessToken& token) {
    constexpr std::string_view scheme = "bearer ";
    const std::string_view given = request.authorization;
    const bool is_bearer =
        given.size() > scheme.size() &&
        std::ranges::equal(given.substr(0, scheme.size()), scheme, {},
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    if (is_bearer && token.matches(given.substr(scheme.size())))
        return true;
    return std::ranges::any_of(request.query, [&](const auto& parameter) {
        return parameter.first == token_parameter && token.matches(parameter.second);
    });
}

HttpAnswer without_token() {
    HttpAnswer answer =
        bad(401, "a token is needed: every user of this machine can connect to a port.\n"
                 "`serve` in auger's console says the URL with it, and a file holds it where auger "
                 "was told `serve ADDRESS token FILE`. It is taken as ?token=TOKEN in the URL, or "
                 "as a header \"Authorization: Bearer TOKEN\".");
    answer.headers.emplace_back("WWW-Authenticate", "Bearer");
    return answer;
}

std::variant<EndpointRequest, HttpAnswer> read_request(const HttpRequest& with_token) {
    HttpRequest request = with_token;
    std::erase_if(request.query,
                  [](const auto& parameter) { return parameter.first == token_parameter; });
    if (asked_by_stranger(request))
        return bad(403, "only this machine may ask: the request names another host or origin");
    const auto* resource = std::ranges::find(resources, request.path, &Resource::path);
    if (resource == resources.end()) {
        HttpAnswer missing = bad(404, "there is no such thing here; there are:");
        missing.text += endpoint_index();
        return missing;
    }
    const bool allowed = request.method == resource->method ||
                         (request.method == "HEAD" && resource->method == "GET");
    if (!allowed) {
        HttpAnswer refused = bad(405, fmt::format("{} takes {}", resource->path, resource->method));
        refused.headers.emplace_back("Allow", resource->method);
        return refused;
    }
    return resource->read(request);
}

HttpAnswer index_answer(const HttpRequest& request, const AccessToken* token) {
    if (request.accept.find("text/html") == std::string::npos)
        return {200, endpoint_index()};
    HttpAnswer answer{200, "<!doctype html>\n<title>auger</title>\n<pre>\n"};
    for (const Resource& one : resources) {
        std::string path(one.path);
        if (one.method == "GET") {
            const std::string query = token ? "?token=" + token->text() : "";
            path = fmt::format("<a href=\"{}{}\">{}</a>", one.path, query, one.path);
        }
        std::string parameters;
        for (const char c : one.parameters)
            parameters += c == '&' ? "&amp;" : std::string(1, c);
        answer.text +=
            fmt::format("{:<4} {}{}\n     {}\n", one.method, path, parameters, one.about);
    }
    answer.text += "</pre>\n";
    answer.type = "text/html; charset=utf-8";
    return answer;
}

std::string endpoint_index() {
    std::string text;
    for (const Resource& one : resources)
        text +=
            fmt::format("{:<4} {}{}\n     {}\n", one.method, one.path, one.parameters, one.about);
    return text;
}

} // namespace auger
