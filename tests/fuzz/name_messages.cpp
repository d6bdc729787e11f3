// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/symbols/name_messages.h"

#include <cstdlib>

namespace auger::test {

void fuzz_name_messages(const uint8_t* data, size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto is_id = [](std::string_view id) {
        return id.find_first_not_of("0123456789abcdef") == id.npos && id.size() % 2 == 0;
    };
    name_messages::request(bytes);
    elf_messages::checksum(bytes);
    name_messages::refreshed(bytes);
    // Files are opened by these.
    const auto opened = elf_messages::opened(bytes);
    if (opened && (!is_id(opened->build_id) ||
                   (opened->link && opened->link->file_name.find('/') != std::string::npos)))
        std::abort();
    const auto id = elf_messages::build_id(bytes);
    const auto symbols = name_messages::read_symbols(bytes);
    if ((id && !is_id(id->text)) || (symbols && !is_id(symbols->alternative.value_or(""))))
        std::abort();
    for (const size_t count : {0, 1, 2, 512}) {
        const auto names = name_messages::names(bytes, count);
        if (!names)
            continue;
        // What was understood can be said.
        if (names->size() != count ||
            name_messages::names(name_messages::names(*names), count) != names)
            std::abort();
    }
}

} // namespace auger::test
