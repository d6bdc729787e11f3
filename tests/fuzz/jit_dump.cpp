// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/reader/names/jit_dump.h"

#include <cstdlib>

namespace auger::test {

void fuzz_jit_dump(const uint8_t* data, size_t size) {
    JitDump dump;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    // In two parts, as of a file that grows.
    const uint64_t taken = dump.take(bytes.substr(0, size / 2), false);
    if (taken < size)
        dump.take(bytes.substr(taken), true);
    size_t length = 0;
    for (uint64_t address = 0; address < 4096; address += 7)
        if (const auto name = dump.find(address))
            length += name->size();
    if (length > size * 4096 || dump.size() > size)
        std::abort();
}

} // namespace auger::test
