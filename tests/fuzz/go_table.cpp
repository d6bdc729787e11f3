// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/reader/elf/go_table.h"

#include <algorithm>
#include <cstdlib>

namespace auger::test {
namespace {

// All that is relied on: functions in order, without overlaps, and rows within them.
void check(const GoTable& table) {
    uint64_t end = 0;
    for (const GoFunction& function : table.functions()) {
        if (function.begin < end || function.end <= function.begin || function.name.empty() ||
            table.containing(function.begin) != &function)
            std::abort();
        end = function.end;
    }
    constexpr size_t most = 64; // all of them may have the longest program
    for (size_t i = 0; i < std::min(table.functions().size(), most); i++) {
        const GoFunction& function = table.functions()[i];
        uint64_t least = function.begin;
        for (const GoStackRow& row : table.stack_rows(function)) {
            if (row.address < least || row.address >= function.end)
                std::abort();
            least = row.address;
        }
        (void)table.named(function.name);
    }
}

} // namespace

void fuzz_go_table(const uint8_t* data, size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const size_t found = GoTable::find(bytes);
    if (found > size)
        std::abort();
    for (const auto content : {bytes, bytes.subspan(found)})
        if (const auto table = GoTable::read(content, 0x401000))
            check(*table);
}

} // namespace auger::test
