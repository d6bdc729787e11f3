// SPDX-License-Identifier: GPL-3.0-or-later
// Who may ask the endpoint, as far as the request tells: by its token, host and origin. Pure.
#pragma once

#include "repl/services/access_token.h"
#include "repl/services/endpoint_request.h"
#include "repl/services/http_server.h"

#include <string_view>

namespace auger {

// The parameter that may hold the token; no part of what is asked for.
inline constexpr std::string_view token_parameter = "token";

// Whether the request holds the token: as a parameter, or in its header Authorization.
bool knows(const HttpRequest&, const AccessToken&);
HttpAnswer without_token();

// Whether it names another host, or comes from a web page of another origin.
bool asked_by_stranger(const HttpRequest&);
HttpAnswer to_a_stranger();

// Whether it asks for nothing but what the process that asks does itself.
bool asks_for_itself(const EndpointRequest&);
HttpAnswer not_for_itself();

} // namespace auger
