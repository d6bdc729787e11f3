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

} // namespace auger
