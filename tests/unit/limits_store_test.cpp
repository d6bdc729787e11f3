// SPDX-License-Identifier: GPL-3.0-or-later
// What is counted of the store's memory is what it takes of the machine. Here, where no sanitizer
// is: its own allocator keeps what was given back for long, and puts room around each allocation.
#include "tests/unit/filled_store.h"

#include <fmt/format.h>
#include <malloc.h>

#include <cstdint>
#include <fstream>

namespace auger {
namespace {

// What the kernel says that this process holds in memory.
size_t resident_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (size_t kb = 0; word == "VmRSS:" && status >> kb)
            return kb << 10;
    ADD_FAILURE() << "no VmRSS";
    return 0;
}

class StoreInMemory : public FilledStore {};

TEST_F(StoreInMemory, TakesNoMoreOfTheMachineThanItCounts) {
    malloc_trim(0); // or it grows into what other tests have left
    const size_t before = resident_bytes();
    size_t most_resident = 0;
    for (int part = 0; part < 100; part++) {
        take(1'000, 110, true);
        const size_t now = resident_bytes();
        most_resident = std::max(most_resident, now - std::min(now, before));
    }
    fmt::print("counted {} MB, of the machine {} MB\n", most >> 20, most_resident >> 20);
    EXPECT_LE(most, bytes);
    // A stack of 110 is a chunk of the heap of 440 bytes in the interner and another in the model,
    // and each has at most 8 of the allocator's own and 15 to be a multiple of 16: 1/19. What the
    // heap has free between chunks that are kept is a vector that was outgrown, of two MB at most,
    // and chunks of stacks that went while others came: not more than 1/8 (1/15 was seen in all).
    EXPECT_LE(most_resident, most + most / 4);
}

} // namespace
} // namespace auger
