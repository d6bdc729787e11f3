// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/tracepoints/event_format.h"
#include "tests/fuzz/fuzz_targets.h"

#include <cstdlib>

namespace auger::test {

void fuzz_event_format(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto format = parse_event_format(text);
    if (!format)
        return;
    size_t named = 0;
    for (const EventField& field : format->fields) {
        // What is read lies where a record can be.
        if (field.name.empty() || field.type.empty() || field.offset >= 65'536 ||
            field.size > 65'536 || (field.elements && field.size % field.elements != 0))
            std::abort();
        named += field.name.size();
    }
    if (named > size || field_names(*format).size() > 2 * size + 4)
        std::abort();
}

} // namespace auger::test
