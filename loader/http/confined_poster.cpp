// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/http/confined_poster.h"

#include "loader/http/http_messages.h"
#include "loader/process/message.h"
#include "loader/process/own_variables.h"

#include <poll.h>

namespace auger {
namespace {

constexpr std::chrono::seconds first_patience{60}; // on a machine with too much to do
// For the rest of a message whose first byte is there, and for one that is to be taken.
constexpr std::chrono::milliseconds message_patience{500};
constexpr std::chrono::seconds slack{30}; // beyond the time that a request has

std::optional<Message> receive_within(int socket, std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    return receive_message(socket, http_messages::message_limit,
                           [&] { return std::chrono::steady_clock::now() < end; });
}

bool send_within(int socket, std::string_view bytes, std::span<const int> descriptors = {}) {
    const auto end = std::chrono::steady_clock::now() + message_patience;
    return send_message(socket, bytes, descriptors,
                        [&] { return std::chrono::steady_clock::now() < end; });
}

bool is_readable(int socket) {
    pollfd one{socket, POLLIN, 0};
    return poll(&one, 1, 0) > 0;
}

Error no_process(std::string cause, std::string hint = {}) {
    return {"send", "by HTTP", std::move(cause), std::move(hint), Error::Kind::unsupported};
}

} // namespace

Result<std::unique_ptr<HttpPoster>> ConfinedPoster::open(std::string certificates) {
    auto processes = ConfinedProcesses::start(networked_reader_program());
    if (!processes)
        return processes.error();
    std::unique_ptr<ConfinedPoster> poster(
        new ConfinedPoster(std::move(*processes), std::move(certificates)));
    if (auto begun = poster->begin(); !begun)
        return begun.error();
    const auto why = poster->begun(first_patience);
    if (!why)
        return no_process("its process has died");
    if (!why->empty())
        return no_process(*why, "Debian: install libcurl3-gnutls");
    return std::unique_ptr<HttpPoster>(std::move(poster));
}

Result<void> ConfinedPoster::begin() {
    constexpr std::string_view variables[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
                                              "all_proxy",  "ALL_PROXY",   "no_proxy",
                                              "NO_PROXY"};
    auto made = processes_->make(http_service);
    if (!made)
        return made.error();
    process_.emplace(*std::move(made));
    begun_ = false;
    if (!send_within(process_->socket(),
                     http_messages::begin({own_variables(variables), certificates_}))) {
        process_.reset();
        return no_process("its process has died");
    }
    return {};
}

std::optional<std::string> ConfinedPoster::begun(std::chrono::milliseconds patience) {
    auto answer = receive_within(process_->socket(), patience);
    if (!answer)
        return std::nullopt;
    begun_ = answer->bytes.empty();
    return std::move(answer->bytes);
}

Result<void> ConfinedPoster::start(const HttpPost& post, UniqueFd body) {
    // One whose outcome nobody waited for would be taken for this one's.
    if (std::exchange(busy_, false))
        process_.reset();
    if (!process_)
        if (auto begun = begin(); !begun)
            return begun.error();
    const int descriptors[] = {body.get()};
    if (!send_within(process_->socket(), http_messages::post(post), descriptors)) {
        process_.reset();
        return no_process("its process has died");
    }
    busy_ = true;
    until_ = Clock::now() + std::chrono::seconds(post.seconds) + slack;
    return {};
}

HttpOutcome ConfinedPoster::fail(std::string why) {
    process_.reset();
    busy_ = false;
    HttpOutcome outcome;
    outcome.text = std::move(why);
    return outcome;
}

std::optional<HttpOutcome> ConfinedPoster::take() {
    if (!busy_)
        return std::nullopt;
    if (!is_readable(process_->socket())) {
        if (Clock::now() >= until_)
            return fail("the process that sends does not answer");
        return std::nullopt;
    }
    if (!begun_) {
        const auto why = begun(message_patience);
        if (!why || !why->empty())
            return fail(why ? *why : "the process that sends has died");
        return std::nullopt;
    }
    const auto message = receive_within(process_->socket(), message_patience);
    if (!message)
        return fail("the process that sends has died");
    auto outcome = http_messages::outcome(message->bytes);
    if (!outcome || !message->descriptors.empty())
        return fail("the process that sends gave an invalid answer");
    busy_ = false;
    return outcome;
}

} // namespace auger
