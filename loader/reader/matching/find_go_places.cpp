// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/find_go_places.h"

#include "loader/reader/code/function_code.h"
#include "loader/reader/elf/go_table.h"
#include "loader/reader/tables/go_runtime.h"

namespace auger {
namespace {

std::optional<uint64_t> goroutine_end(const ElfFile& file) {
    const GoTable* table = file.go_table();
    const GoFunction* end = table ? table->named("runtime.goexit0") : nullptr;
    if (!end)
        return std::nullopt;
    const std::vector<std::byte> code = file.read_code(end->begin, end->end - end->begin);
    const auto analysed =
        analyse_function({end->begin, code}, {}, [&](uint64_t address, size_t size) {
            return file.read_code(address, size);
        });
    if (!analysed || !analysed->argument_entry)
        return std::nullopt;
    return file.offset_of_address(analysed->argument_entry->address);
}

} // namespace

GoPlaces find_go_places(const ElfFile& file) {
    return {read_go_runtime(file), goroutine_end(file)};
}

} // namespace auger
