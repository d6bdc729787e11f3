// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

// HotSpot's numbers of one to five bytes (UNSIGNED5), as JDK 17 writes them: what bytes above 191
// add goes on with the next one. At the end of the bytes zeros are read, and failed() says so.
class HotspotNumbers {
  public:
    explicit HotspotNumbers(std::span<const std::byte> bytes) : bytes_(bytes) {}

    uint8_t byte();
    uint32_t number();
    int32_t signed_number();
    bool failed() const { return failed_; }

  private:
    std::span<const std::byte> bytes_;
    bool failed_ = false;
};

// The line of a bytecode, by a method's table of lines (CompressedLineNumberReadStream); 0: it has
// none. The table may hold anything.
uint32_t hotspot_line(std::span<const std::byte> table, uint32_t bytecode);

} // namespace auger
