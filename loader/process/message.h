// SPDX-License-Identifier: GPL-3.0-or-later
// Messages between processes over a stream socket: bytes, and descriptors with them. The other end
// is not trusted: what does not hold together ends the conversation.
#pragma once

#include "loader/base/fd.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct Message {
    std::string bytes;
    std::vector<UniqueFd> descriptors;
};

// Of what one message may bring.
inline constexpr size_t most_descriptors = 64;

// Asked every tenth of a second or so whether to go on waiting; an empty one: for as long as it
// takes.
using GoOn = std::function<bool()>;

bool send_message(int socket, std::string_view bytes, std::span<const int> descriptors = {},
                  const GoOn& go_on = {});
// At most `limit` bytes. Nothing when the other end is gone or sends more, or waiting was given up.
std::optional<Message> receive_message(int socket, size_t limit, const GoOn& go_on = {});

// The loop of a process that answers requests: `understand` makes one of the bytes, or nothing;
// `handle` is given it and its descriptors, and puts what is to be answered, if anything is. It
// ends when the other end is gone, when something is no request, or when `handle` says no.
template <typename Understand, typename Handle>
void serve_messages(int socket, size_t limit, const Understand& understand, const Handle& handle) {
    while (auto message = receive_message(socket, limit)) {
        auto request = understand(std::string_view(message->bytes));
        std::optional<std::string> answer;
        if (!request || !handle(*std::move(request), std::move(message->descriptors), answer) ||
            (answer && !send_message(socket, *answer)))
            return;
    }
}

} // namespace auger
