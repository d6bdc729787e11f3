// SPDX-License-Identifier: GPL-3.0-or-later
// What was compressed, by zlib itself.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace auger::test {

inline std::string gunzip(const std::string& bytes) {
    std::string text, piece(1 << 20, '\0');
    z_stream stream{};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    int state = Z_OK;
    while (state == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        state = inflate(&stream, Z_NO_FLUSH);
        text.append(piece, 0, piece.size() - stream.avail_out);
    }
    EXPECT_EQ(state, Z_STREAM_END);
    inflateEnd(&stream);
    return text;
}

} // namespace auger::test
