// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

// HotSpot's numbers of one to five bytes (UNSIGNED5): what bytes above 191 add goes on with the
// next one. Since JDK 20 no byte of one is zero, and each counts for one less. At the end of the
// bytes zeros are read, and failed() says so.
class HotspotNumbers {
  public:
    HotspotNumbers(std::span<const std::byte> bytes, bool without_zero)
        : bytes_(bytes), least_(without_zero ? 1 : 0) {}

    uint8_t byte();
    uint32_t number();
    int32_t signed_number();
    bool failed() const { return failed_; }

  private:
    std::span<const std::byte> bytes_;
    uint8_t least_; // that a byte of a number may be
    bool failed_ = false;
};

// The line of a bytecode, by a method's table of lines (CompressedLineNumberReadStream); 0: it has
// none. The table may hold anything. `without_zero`: see HotspotNumbers.
uint32_t hotspot_line(std::span<const std::byte> table, uint32_t bytecode, bool without_zero);

} // namespace auger
