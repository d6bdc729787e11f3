// SPDX-License-Identifier: GPL-3.0-or-later
// What is said between ConfinedPoster and its process (serve_http.cpp). Nothing that an answer says
// is believed unless it holds together.
#pragma once

#include "loader/http/http_post.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger::http_messages {

inline constexpr size_t message_limit = 2 << 20;
inline constexpr size_t certificates_limit = 1 << 20;
inline constexpr size_t text_limit = 1 << 10; // of what a server says; more is cut

// Comes first. The answer is text: why nothing can be sent, or nothing.
struct Begin {
    std::vector<std::string> variables; // "NAME=VALUE"
    std::string certificates; // of who may sign the server's, as PEM; empty: the machine's own
    friend bool operator==(const Begin&, const Begin&) = default;
};
std::string begin(const Begin& begin);
std::optional<Begin> begin(std::string_view bytes);

// With the body's descriptor.
std::string post(const HttpPost& post);
std::optional<HttpPost> post(std::string_view bytes);

// The answer to it.
std::string outcome(const HttpOutcome& outcome);
std::optional<HttpOutcome> outcome(std::string_view bytes);

} // namespace auger::http_messages
