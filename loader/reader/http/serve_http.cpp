// SPDX-License-Identifier: GPL-3.0-or-later
// The other side of ConfinedPoster.
#include "loader/http/http_messages.h"
#include "loader/process/message.h"
#include "loader/reader/confinement.h"
#include "loader/reader/http/curl_library.h"
#include "loader/reader/http/otlp_answer.h"
#include "loader/reader/network/surroundings.h"
#include "loader/reader/services.h"

namespace auger {
namespace {

void understand_otlp(HttpOutcome& outcome) {
    if (outcome.status == 200) {
        if (auto answer = read_otlp_success(outcome.text)) {
            outcome.rejected = answer->rejected;
            outcome.text = std::move(answer->message);
        }
    } else if (auto message = read_otlp_failure(outcome.text)) {
        outcome.text = std::move(*message);
    }
}

} // namespace

void serve_http(int socket) {
    const auto first = receive_message(socket, http_messages::message_limit);
    const auto begin = first ? http_messages::begin(first->bytes) : std::nullopt;
    // It writes the certificates, in memory, and nothing else.
    if (!begin || !set_variables(begin->variables) ||
        !confine_with_network({}, begin->certificates.size(), network_files()))
        return;
    const auto library = CurlLibrary::load(begin->certificates);
    if (!send_message(socket, library ? "" : library.error().message()) || !library)
        return;
    while (const auto message = receive_message(socket, http_messages::message_limit)) {
        const auto post = http_messages::post(message->bytes);
        if (!post || message->descriptors.size() != 1)
            return;
        HttpOutcome outcome = library->post(*post, message->descriptors[0].get());
        if (post->otlp && outcome.status != 0)
            understand_otlp(outcome);
        if (!send_message(socket, http_messages::outcome(outcome)))
            return;
    }
}

} // namespace auger
