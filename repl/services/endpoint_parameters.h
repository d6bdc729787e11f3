// SPDX-License-Identifier: GPL-3.0-or-later
// What parameters and bodies of requests to the endpoint say: a request, or the answer that says
// what is wrong with them. Pure.
#pragma once

#include "repl/services/endpoint_request.h"

#include <span>
#include <string_view>

namespace auger {

using ReadRequest = std::variant<EndpointRequest, HttpAnswer>;

HttpAnswer bad_request(std::string text);

// The body of POST /sample.
ReadRequest read_samples(const HttpRequest&);
// The parameters of a GET; `keys` are those that there may be.
ReadRequest read_parameters(EndpointRequest::Kind, const HttpRequest&,
                            std::span<const std::string_view> keys);

} // namespace auger
