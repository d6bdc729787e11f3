// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/base64_sink.h"

#include <array>
#include <cstdint>

namespace auger {
namespace {

// Of up to three bytes, four characters.
std::array<char, 4> base64_of(std::string_view bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; i++)
        bits = bits << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
    std::array<char, 4> text{};
    for (size_t i = 0; i < 4; i++)
        text[i] = i <= bytes.size() ? digits[bits >> (18 - 6 * i) & 63] : '=';
    return text;
}

} // namespace

void Base64Sink::write(std::string_view bytes) {
    rest_.append(bytes);
    std::string text;
    text.reserve(rest_.size() / 3 * 4);
    size_t at = 0;
    for (; rest_.size() - at >= 3; at += 3)
        text.append(base64_of(std::string_view(rest_).substr(at, 3)).data(), 4);
    rest_.erase(0, at);
    out_.write(text);
}

void Base64Sink::finish() {
    if (!rest_.empty())
        out_.write({base64_of(rest_).data(), 4});
    rest_.clear();
}

} // namespace auger
