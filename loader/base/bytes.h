// SPDX-License-Identifier: GPL-3.0-or-later
// The primitives of recordings and messages: variable-length integers (7 bits a byte, lowest
// first), zigzag for signed ones, and bounds-checked reading. A reader that runs out of bytes or
// meets an impossible value stays failed and returns zeros, so its user checks once a record.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace auger {

class ByteWriter {
  public:
    explicit ByteWriter(std::string& out) : out_(out) {}

    void varint(uint64_t value) {
        while (value >= 0x80) {
            out_.push_back(static_cast<char>(value | 0x80));
            value >>= 7;
        }
        out_.push_back(static_cast<char>(value));
    }
    void zigzag(int64_t value) {
        varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
    }
    void fixed32(uint32_t value) { little_endian(value, 4); }
    void fixed64(uint64_t value) { little_endian(value, 8); }
    void real(double value) { fixed64(std::bit_cast<uint64_t>(value)); }
    void string(std::string_view text) {
        varint(text.size());
        out_.append(text);
    }

  private:
    void little_endian(uint64_t value, int size) {
        for (int i = 0; i < size; ++i)
            out_.push_back(static_cast<char>(value >> (8 * i)));
    }

    std::string& out_;
};

class ByteReader {
  public:
    ByteReader() = default;
    explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

    bool failed() const { return failed_; }
    bool at_end() const { return position_ == bytes_.size(); }
    size_t position() const { return position_; }
    size_t left() const { return bytes_.size() - position_; }

    uint64_t varint() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && position_ < bytes_.size(); shift += 7) {
            const auto byte = static_cast<uint8_t>(bytes_[position_++]);
            // The tenth byte has room for one bit.
            if (shift == 63 && byte > 1)
                break;
            value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                return value;
        }
        return fail();
    }
    // At most `limit`, inclusive.
    uint64_t varint_up_to(uint64_t limit) {
        const uint64_t value = varint();
        return value <= limit ? value : fail();
    }
    uint32_t varint32() { return static_cast<uint32_t>(varint_up_to(UINT32_MAX)); }
    bool boolean() { return varint_up_to(1) != 0; }
    int64_t zigzag() {
        const uint64_t value = varint();
        return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
    }
    uint32_t fixed32() { return static_cast<uint32_t>(little_endian(4)); }
    uint64_t fixed64() { return little_endian(8); }
    double real() { return std::bit_cast<double>(fixed64()); }
    std::string_view string(size_t limit) {
        const size_t size = varint_up_to(limit);
        if (failed_ || size > left()) {
            fail();
            return {};
        }
        position_ += size;
        return bytes_.substr(position_ - size, size);
    }
    // A number of things that take at least one byte each.
    size_t count(size_t limit) {
        const size_t value = varint_up_to(limit);
        return value <= left() ? value : fail();
    }
    uint64_t fail() {
        failed_ = true;
        position_ = bytes_.size();
        return 0;
    }

  private:
    uint64_t little_endian(size_t size) {
        if (size > left())
            return fail();
        uint64_t value = 0;
        for (size_t i = 0; i < size; ++i)
            value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes_[position_ + i])) << (8 * i);
        position_ += size;
        return value;
    }

    std::string_view bytes_;
    size_t position_ = 0;
    bool failed_ = false;
};

} // namespace auger
