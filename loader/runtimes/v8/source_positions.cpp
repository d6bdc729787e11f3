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

// By far what a script can have: a string has less than 2^30 characters.
constexpr int64_t number_limit = int64_t{1} << 32;

} // namespace

std::optional<uint32_t> v8_source_position(std::span<const std::byte> table, uint32_t offset) {
    Numbers numbers(table);
    // Of bytecodes the offsets, which ascend, from -1, which is where the function is entered; of
    // what is no statement less 1 and with another sign. Of positions one bit more, of functions
    // that are elsewhere, and one number more.
    int64_t at = -1, raw = 0;
    std::optional<uint32_t> found;
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
        const bool is_external = raw & 1;
        const int64_t position = (raw >> 1) - 1;
        found.reset();
        if (raw >= 0 && !is_external && position >= 0 && position < number_limit / 4)
            found = static_cast<uint32_t>(position);
    }
    return found;
}

} // namespace auger
