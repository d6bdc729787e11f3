// SPDX-License-Identifier: GPL-3.0-or-later
// What the file that holds _asyncio says of its tasks, since CPython 3.14: its section
// .AsyncioDebug, made where it is read, and used elsewhere.
#pragma once

#include "loader/runtimes/python/layout.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace auger {

struct AsyncioFile {
    AsyncioOffsets offsets;

    friend bool operator==(const AsyncioFile&, const AsyncioFile&) = default;
};

// Of what the section holds, which may claim anything.
std::optional<AsyncioFile> parse_asyncio_file(std::span<const std::byte> section);

std::string encode_asyncio_file(const AsyncioFile& file);
std::optional<AsyncioFile> decode_asyncio_file(std::string_view bytes);

} // namespace auger
