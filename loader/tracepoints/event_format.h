// SPDX-License-Identifier: GPL-3.0-or-later
// EventFormat: what a format file of tracefs says of a tracepoint's record. Changes when the kernel
// writes such files in another way.
#pragma once

#include "loader/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct EventField {
    std::string name;
    std::string type;      // without the array's brackets: "const char *", "unsigned int"
    uint32_t offset = 0;   // in the record, bytes; of `dynamic` where 4 bytes say where it lies
    uint32_t size = 0;     // bytes, of an array all of it
    uint32_t elements = 0; // of an array; 0: it is none, or how many is not known
    bool is_array = false;
    bool is_signed = false;
    bool dynamic = false;  // __data_loc
    bool relative = false; // __rel_loc

    bool is_pointer() const { return type.ends_with('*'); }
    friend bool operator==(const EventField&, const EventField&) = default;
};

struct EventFormat {
    std::string name;
    uint64_t id = 0;                // that perf events name it by
    std::vector<EventField> fields; // its own, without those that all have
};

// Errors say which line is not understood.
Result<EventFormat> parse_event_format(std::string_view text);

// "dfd, filename, flags"; "none".
std::string field_names(const EventFormat& format);

} // namespace auger
