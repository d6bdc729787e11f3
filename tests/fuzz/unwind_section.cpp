// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/reader/tables/unwind_compiler.h"

#include <cstdlib>

namespace auger::test {
namespace {

// All that the kernel side relies on.
void check(const UnwindTable& table) {
    if (!table.valid())
        std::abort();
    for (uint64_t offset = 0; offset < table.size; offset += 1 + table.size / 1024)
        if (const wire_unwind_rule* rule = table.find(table.base + offset))
            if (rule < table.rules.data() || rule >= table.rules.data() + table.rules.size())
                std::abort();
}

} // namespace

void fuzz_unwind_section(const uint8_t* data, size_t size) {
    if (size == 0)
        return;
    const auto kind = data[0] % 2 == 0 ? FrameSectionKind::eh_frame : FrameSectionKind::debug_frame;
    const FrameSection sections[] = {
        {std::as_bytes(std::span(data + 1, size - 1)), kind, {0x20000, 0x1000, 0x30000}}};
    const ElfSegment segments[] = {{0, 0, 0x18000, 0x18000, true},
                                   {0x400000, 0x400000, 0x100000, 0x100000, true}};
    const UnwindTables tables = compile_unwind_tables(segments, sections);
    for (const UnwindTable& table : tables.tables)
        check(table);
}

} // namespace auger::test
