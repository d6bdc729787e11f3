// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the bytes of call frame information: little-endian numbers and LEB128. A cursor that runs
// out of bytes stays failed and gives zeros, so its user checks once an entry or instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace auger {

using Bytes = std::span<const std::byte>;

class ByteCursor {
  public:
    ByteCursor() = default;
    explicit ByteCursor(Bytes bytes)
        : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    bool failed() const { return failed_; }
    bool at_end() const { return at_ == end_; }
    size_t position() const { return static_cast<size_t>(at_ - begin_); }
    size_t left() const { return static_cast<size_t>(end_ - at_); }

    template <typename Number>
    Number number() {
        Number value{};
        if (left() < sizeof value) {
            fail();
            return Number{};
        }
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    uint8_t byte() { return number<uint8_t>(); }

    // Bits beyond the 64th are dropped, as all readers do.
    uint64_t uleb() {
        uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const uint8_t part = byte();
            if (shift < 64)
                value |= static_cast<uint64_t>(part & 0x7f) << shift;
            if (!(part & 0x80))
                return value;
        }
    }
    int64_t sleb() {
        uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const uint8_t part = byte();
            if (shift < 64)
                value |= static_cast<uint64_t>(part & 0x7f) << shift;
            shift += 7;
            if (part & 0x80)
                continue;
            if ((part & 0x40) && shift < 64)
                value |= ~uint64_t{0} << shift;
            return static_cast<int64_t>(value);
        }
    }
    Bytes take(uint64_t size) {
        if (size > left()) {
            fail();
            return {};
        }
        const Bytes taken(at_, static_cast<size_t>(size));
        at_ += size;
        return taken;
    }
    Bytes rest() { return take(left()); }
    void fail() {
        failed_ = true;
        at_ = end_;
    }

  private:
    const std::byte* begin_ = nullptr;
    const std::byte* at_ = nullptr;
    const std::byte* end_ = nullptr;
    bool failed_ = false;
};

} // namespace auger
