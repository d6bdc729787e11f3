// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"
#include "tests/fuzz/hostile_elf.h"

#include "loader/reader/elf/function_index.h"
#include "loader/reader/names/elf_questions.h"
#include "loader/reader/names/mini_debug_info.h"
#include "loader/symbols/unpack_memory.h"

#include <cstdlib>

namespace auger::test {

void fuzz_debug_files(const uint8_t* data, size_t size) {
    const auto file = open_hostile_elf(data, size);
    if (!file)
        return;
    // The link leads nowhere: there are no folders.
    if (open_debug_file(*file, "/bin/fuzz", {}))
        std::abort();
    static const UniqueFd memory = unpack_memory();
    for (const auto& symbols : {file, mini_debug_file(*file, memory.get())}) {
        if (!symbols)
            continue;
        const FunctionIndex index(file, symbols);
        for (const FunctionIndex::Function& function : index.functions())
            if (!index.containing(function.address) ||
                index.best_name(function).size() > size * 1100)
                std::abort();
    }
}

} // namespace auger::test
