// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/reader/elf/usdt_notes.h"
#include "loader/reader/values/usdt_operand.h"

#include <algorithm>
#include <cstdlib>

namespace auger::test {

void fuzz_usdt(const uint8_t* data, size_t size) {
    const std::span<const std::byte> section(reinterpret_cast<const std::byte*>(data), size);
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const auto lies_within = [&](std::string_view text) {
        return text.empty() || (text.data() >= all.data() && text.end() <= all.end());
    };
    const auto read_operand = [&](std::string_view text) {
        const auto operand = parse_usdt_operand(text);
        // Of the machine's registers.
        if (operand && (operand->dwarf_register > 16 || operand->shift + 8 * operand->size > 64 ||
                        !lies_within(operand->symbol)))
            std::abort();
    };
    for (const auto base : {std::optional<uint64_t>(), std::optional<uint64_t>(0x4000)}) {
        const auto notes = parse_usdt_notes(section, base);
        if (notes.size() > most_usdt_notes)
            std::abort();
        for (const UsdtNote& note : notes) {
            if (!lies_within(note.provider) || !lies_within(note.name) ||
                !lies_within(note.arguments))
                std::abort();
            for (std::string_view rest = note.arguments; !rest.empty();) {
                const size_t end = std::min(rest.find(' '), rest.size() - 1);
                read_operand(rest.substr(0, end));
                rest.remove_prefix(end + 1);
            }
        }
    }
    read_operand(all);
}

} // namespace auger::test
