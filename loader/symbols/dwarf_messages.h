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

// To open files. With it come the descriptors of the shared progress, and of these, in this order.
struct Files {
    std::string name; // of the first one
    bool dwarf = false;
    bool alternative = false; // what dwz has put elsewhere
    bool go_program = false;
};
std::string open(const Files& files);
std::string addresses(std::span<const uint64_t> addresses);

// What a request asks for: files, or addresses.
struct Request {
    std::optional<Files> files;
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
