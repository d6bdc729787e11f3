// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"
#include "tests/fuzz/hostile_elf.h"

#include "loader/reader/dwarf/dwarf_index.h"
#include "loader/reader/dwarf/dwarf_walk.h"
#include "loader/reader/dwarf/line_table.h"
#include "loader/reader/values/dwarf_types.h"
#include "loader/reader/values/named_type.h"

#include <cstdlib>

namespace auger::test {
namespace {

// Of everything that a function may have.
void read_types(Dwarf* dwarf) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die top, function, holder;
    uint8_t kind;
    size_t left = 1000, named = 0;
    while (dwarf_get_units(dwarf, unit, &unit, nullptr, &kind, &top, nullptr) == 0) {
        for (int more = dwarf_child(&top, &function); more == 0 && left-- > 0;
             more = dwarf_siblingof(&function, &function))
            for (int inner = dwarf_child(&function, &holder); inner == 0 && left-- > 0;
                 inner = dwarf_siblingof(&holder, &holder)) {
                const ValueType type = pointee(type_of(holder));
                std::vector<TypeLeaf> leaves;
                flatten(type, leaves);
                enumerators(type);
                (void)passed_by(type);
                (void)find_member(type, "x").ok();
                if (named++ < 4)
                    (void)find_type(dwarf, top, "ns::Point").ok();
            }
        if (left == 0)
            return;
    }
}

} // namespace

void fuzz_dwarf(const uint8_t* data, size_t size) {
    const auto file = open_hostile_elf(data, size);
    if (!file)
        return;
    WorkProgress progress;
    if (const auto index = DwarfIndex::open(file, {}, progress))
        for (const ElfSegment& segment : file->segments())
            for (uint64_t offset = 0; offset < 1024 && segment.executable; offset += 5)
                for (const SourceFrame& frame :
                     (*index)->frames(segment.address + offset, progress))
                    if (frame.function.size() > size)
                        std::abort();
    if (const auto dwarf = DwarfFile::open(file, DebugFolders()))
        read_types((*dwarf)->handle());
    if (const auto lines = LineTable::read(file, {}, progress))
        for (SourceFileId id = 0; id < (*lines)->files(); id++)
            (*lines)->blocks_of(id);
}

} // namespace auger::test
