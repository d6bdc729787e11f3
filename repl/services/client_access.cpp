// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/client_access.h"

#include <algorithm>
#include <array>
#include <string>

namespace auger {
namespace {

// "127.0.0.1:8080" -> "127.0.0.1", "[::1]:8080" -> "[::1]".
std::string_view host_name(std::string_view host) {
    const size_t colon = host.rfind(':');
    const size_t bracket = host.rfind(']');
    return colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)
               ? host
               : host.substr(0, colon);
}

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
    HttpAnswer answer{
        401, "a token is needed: every user of this machine can connect to a port.\n"
             "`serve` in auger's console says the URL with it, and a file holds it where auger "
             "was told `serve ADDRESS token FILE`. It is taken as ?token=TOKEN in the URL, or "
             "as a header \"Authorization: Bearer TOKEN\".\n"};
    answer.headers.emplace_back("WWW-Authenticate", "Bearer");
    return answer;
}

// A web page elsewhere may make its visitor's browser ask us, by a name that it has made mean this
// machine, or blindly.
bool asked_by_stranger(const HttpRequest& request) {
    constexpr std::array<std::string_view, 5> ours{"", "localhost", "127.0.0.1", "[::1]", "unix"};
    if (std::ranges::find(ours, host_name(request.host)) == ours.end())
        return true;
    return !request.origin.empty() && request.origin != "http://" + request.host;
}

HttpAnswer to_a_stranger() {
    return {403, "only this machine may ask: the request names another host or origin\n"};
}

bool asks_for_itself(const EndpointRequest& request) {
    using Kind = EndpointRequest::Kind;
    const bool of_a_process = request.kind == Kind::samples || request.kind == Kind::profile ||
                              request.kind == Kind::otlp || request.kind == Kind::collapsed;
    return of_a_process && request.asker &&
           request.selection.filter.process == static_cast<uint32_t>(*request.asker);
}

HttpAnswer not_for_itself() {
    return {403, "this socket answers its user for the process that asks alone: samples and "
                 "profiles with pid=self\n"};
}

} // namespace auger
