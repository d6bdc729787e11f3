// SPDX-License-Identifier: GPL-3.0-or-later
// What is said between a DwarfReader and its process. Nothing that an answer says is believed
// unless it holds together.
#pragma once

#include "loader/symbols/source_frame.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger::dwarf_messages {

inline constexpr size_t request_limit = 1 << 20;
inline constexpr size_t answer_limit = 64 << 20;

// To open a file; with it come the descriptors of the shared progress, the file, and what dwz has
// put elsewhere, if anything.
std::string open(std::string_view name);
std::string addresses(std::span<const uint64_t> addresses);

// What a request asks for: a file's name, or addresses.
struct Request {
    std::optional<std::string> name;
    std::vector<uint64_t> addresses;
};
std::optional<Request> request(std::string_view bytes);

struct Opened {
    std::string problem; // empty: there is none
    size_t section_bytes = 0;
};
std::string opened(const Opened& opened);
std::optional<Opened> opened(std::string_view bytes);

using Frames = std::vector<SourceFrame>;
std::string frames(std::span<const Frames> all);
// Of so many addresses.
std::optional<std::vector<Frames>> frames(std::string_view bytes, size_t count);

} // namespace auger::dwarf_messages
