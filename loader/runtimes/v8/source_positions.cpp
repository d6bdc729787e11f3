// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/v8/source_positions.h"

namespace auger {
namespace {

// Numbers of 7 bits a byte, lowest first, of which the lowest bit is the sign. Behind the table's
// end, and of too many bytes, zeros.
class Numbers {
  public:
    explicit Numbers(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool at_end() const { return bytes_.empty(); }
    int64_t number() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
            const auto byte = static_cast<uint8_t>(bytes_.front());
            bytes_ = bytes_.subspan(1);
            value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
        }
        bytes_ = {};
        return 0;
    }

  private:
    std::span<const std::byte> bytes_;
};

// Beyond what offsets and positions can be.
constexpr int64_t number_limit = int64_t{1} << 48;

// From the lowest bit on: that it is elsewhere, one more than the position, one more than the
// number of the inlined function.
constexpr int position_at = 1, inlined_at = 31;
constexpr int64_t position_mask = (int64_t{1} << 30) - 1, inlined_mask = (1 << 16) - 1;

} // namespace

std::optional<V8SourcePosition> v8_source_position(int64_t raw) {
    const int64_t position = raw >> position_at & position_mask;
    const int64_t inlined = raw >> inlined_at & inlined_mask;
    if (raw < 0 || raw & 1 || position == 0)
        return std::nullopt;
    V8SourcePosition found{static_cast<uint32_t>(position - 1), {}};
    if (inlined)
        found.inlined = static_cast<uint32_t>(inlined - 1);
    return found;
}

std::optional<V8SourcePosition> v8_source_position(std::span<const std::byte> table,
                                                   uint32_t offset) {
    Numbers numbers(table);
    // Of offsets, which ascend, the differences, from -1, which is where a function is entered; of
    // what is no statement less 1 and with another sign.
    int64_t at = -1, raw = 0;
    std::optional<V8SourcePosition> found;
    while (!numbers.at_end()) {
        const int64_t step = numbers.number();
        if (numbers.at_end() || step >= number_limit || step < -number_limit)
            break;
        at += step < 0 ? -(step + 1) : step;
        if (at > static_cast<int64_t>(offset))
            break;
        const int64_t distance = numbers.number();
        if (distance >= number_limit || distance < -number_limit)
            break;
        raw += distance;
        if (raw >= number_limit || raw < -number_limit)
            break;
        found = v8_source_position(raw);
    }
    return found;
}

} // namespace auger
