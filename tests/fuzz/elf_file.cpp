// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"
#include "tests/fuzz/hostile_elf.h"

#include "loader/reader/elf/elf_file.h"
#include "loader/reader/elf/symbol_address.h"
#include "loader/reader/elf/usdt_notes.h"
#include "loader/reader/tables/unwind_compiler.h"

#include <elf.h>

#include <cstdlib>
#include <cstring>

namespace auger::test {

namespace {

void read_all_of(const uint8_t* data, size_t size) {
    const auto file = open_hostile_elf(data, size);
    if (!file)
        return;
    file->functions();
    file->imports();
    const UsdtNotes notes(*file);
    for (const UsdtNote& note : notes.all())
        symbol_address(*file, note.name);
    symbol_address(*file, "g");
    for (const ElfSegment& segment : file->segments()) {
        file->read_code(segment.address, 64);
        file->code_end(segment.address);
    }
    const auto tables = compile_unwind_tables(*file);
    if (!tables)
        return;
    for (const UnwindTable& table : tables->tables)
        if (!table.valid())
            std::abort();
}

} // namespace

void fuzz_elf_file(const uint8_t* data, size_t size) {
    read_all_of(data, size);
    // And without section headers.
    std::vector<uint8_t> bare(data, data + size);
    if (size < sizeof(Elf64_Ehdr))
        return;
    std::memset(&bare[offsetof(Elf64_Ehdr, e_shoff)], 0, sizeof(Elf64_Off));
    std::memset(&bare[offsetof(Elf64_Ehdr, e_shnum)], 0, 2 * sizeof(Elf64_Half));
    read_all_of(bare.data(), bare.size());
}

} // namespace auger::test
