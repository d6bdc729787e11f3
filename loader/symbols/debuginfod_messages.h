// SPDX-License-Identifier: GPL-3.0-or-later
// What is said between Debuginfod and its process (serve_debuginfod.cpp). Nothing that an answer
// says is believed unless it holds together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger::debuginfod_messages {

inline constexpr size_t message_limit = 1 << 20;

// Comes first: "NAME=VALUE" of the variables that the library reads, and the most bytes of a file.
// The answer is text: why nothing can be fetched, or nothing.
struct Begin {
    std::vector<std::string> variables;
    uint64_t bytes = 0;
    friend bool operator==(const Begin&, const Begin&) = default;
};
std::string begin(const Begin& begin);
std::optional<Begin> begin(std::string_view bytes);

// The answers to a build id (lower-case hexadecimal): how far it has come, any number of times, and
// in the end a descriptor of the file, or why there is none.
struct Fetched {
    bool ended = false;
    uint64_t done = 0, total = 0; // bytes; total 0: not known
    std::string problem;          // of one that has ended; empty: the descriptor comes with it
    friend bool operator==(const Fetched&, const Fetched&) = default;
};
std::string fetched(const Fetched& fetched);
std::optional<Fetched> fetched(std::string_view bytes);

} // namespace auger::debuginfod_messages
