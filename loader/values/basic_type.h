// SPDX-License-Identifier: GPL-3.0-or-later
// Types that casts know without debug information: u8 to s64, uint8_t, int64, `unsigned long`,
// char.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace auger {

struct BasicType {
    enum class Kind : uint8_t { integer, character, boolean, floating, nothing };
    Kind kind = Kind::integer;
    uint8_t size = 0; // bytes
    bool is_signed = false;
};

// The words of C's names in any order, with single blanks between them.
std::optional<BasicType> basic_type(std::string_view name);

} // namespace auger
