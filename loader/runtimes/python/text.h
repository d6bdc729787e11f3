// SPDX-License-Identifier: GPL-3.0-or-later
// The characters of a str object, as UTF-8.
#pragma once

#include "loader/base/number_at.h"
#include "loader/runtimes/python/layout.h"
#include "loader/runtimes/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

// Up to `limit` characters; what is longer ends in three dots. `fill(address, bytes)` is false
// where the memory cannot be read. Nothing, too, where the characters are not in the object.
template <typename Fill>
std::optional<std::string> read_python_text(const Fill& fill, const PythonObjects& at,
                                            uint64_t address, uint64_t limit) {
    constexpr size_t header_limit = 256; // bytes: what python_layout() allows
    std::array<std::byte, header_limit> bytes;
    const std::span<std::byte> header = std::span(bytes).first(at.text_ascii);
    if (!fill(address, header))
        return std::nullopt;
    const uint64_t length = number_at<uint64_t>(header, at.text_length);
    const uint32_t state = number_at<uint32_t>(header, at.text_state);
    const unsigned width = state >> 2 & 7;
    const bool compact = state & 1u << 5, ascii = state & 1u << 6;
    if (!compact || (width != 1 && width != 2 && width != 4) || (ascii && width != 1))
        return std::nullopt;
    std::vector<std::byte> characters(std::min(length, limit) * width);
    if (!fill(address + (ascii ? at.text_ascii : at.text_wide), std::span(characters)))
        return std::nullopt;
    std::string text;
    for (size_t i = 0; i < characters.size(); i += width)
        append_utf8(text, width == 1   ? number_at<uint8_t>(characters, i)
                          : width == 2 ? number_at<uint16_t>(characters, i)
                                       : number_at<uint32_t>(characters, i));
    return length > limit ? text + "..." : text;
}

} // namespace auger
