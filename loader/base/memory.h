// SPDX-License-Identifier: GPL-3.0-or-later
// Memory: words by their addresses. Of a process, or of a piece that was copied from one.
#pragma once

#include <cstdint>
#include <optional>

namespace auger {

class Memory {
  public:
    virtual ~Memory() = default;
    // The eight bytes at any address; nothing where they cannot be read.
    virtual std::optional<uint64_t> word(uint64_t address) = 0;
};

} // namespace auger
