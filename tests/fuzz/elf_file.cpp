// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/elf/elf_file.h"
#include "loader/unwind/unwind_compiler.h"

#include <sys/mman.h>

#include <cstdlib>

namespace auger::test {

void fuzz_elf_file(const uint8_t* data, size_t size) {
    UniqueFd fd(memfd_create("fuzz", MFD_CLOEXEC));
    if (!fd || pwrite(fd.get(), data, size, 0) != static_cast<ssize_t>(size))
        return;
    const auto file = ElfFile::open(std::move(fd), "fuzz");
    if (!file)
        return;
    (*file)->functions();
    (*file)->imports();
    for (const ElfSegment& segment : (*file)->segments()) {
        (*file)->read_code(segment.address, 64);
        (*file)->code_end(segment.address);
    }
    const auto tables = compile_unwind_tables(**file);
    if (!tables)
        return;
    for (const UnwindTable& table : tables->tables)
        if (!table.valid())
            std::abort();
}

} // namespace auger::test
