// SPDX-License-Identifier: GPL-3.0-or-later
// ThreadLocalBlock: what an ELF file says of its thread-local variables.
#pragma once

#include "loader/elf/program_headers.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace auger {

struct ThreadLocalBlock {
    // A pointer-sized place that gets a variable's offset from the thread's control block.
    struct Slot {
        uint64_t address;  // as linked
        uint64_t variable; // offset in the block
    };

    uint64_t size = 0;                    // of the block, in multiples of its alignment
    std::optional<uint64_t> error_number; // offset of the variable errno in it
    std::vector<Slot> slots;
    bool interpreter = false; // a dynamic linker loads it
    std::vector<ElfSegment> segments;

    std::optional<uint64_t> address_of_offset(uint64_t offset) const;
};

// Where a part of the file is linked to, of which only the page is given.
std::optional<uint64_t> linked_address(std::span<const ElfSegment> segments, uint64_t offset);
// Whether a mapping that begins at this offset of the file is of the segment that is linked to
// `address`, `distance` behind the mapping's beginning. (While a library is being loaded other
// parts of it may be there.)
bool is_linked_to(std::span<const ElfSegment> segments, uint64_t offset, uint64_t distance,
                  uint64_t address);

} // namespace auger
