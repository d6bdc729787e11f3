// SPDX-License-Identifier: GPL-3.0-or-later
// Text that came from a target, made harmless for a terminal and valid as UTF-8. Control characters
// become \xNN, invalid bytes \xNN, invisible and direction-changing code points \u{N}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace auger {

std::string escape_untrusted(std::string_view raw);

// Decodes one code point at `text[at]` and moves `at` behind it. Returns UINT32_MAX for an invalid
// sequence and then moves by one byte.
uint32_t decode_utf8(std::string_view text, size_t& at);
void append_utf8(std::string& out, uint32_t code_point);

// Columns that a code point takes on a terminal: 0 (combining), 1 or 2 (East Asian wide, emoji).
int code_point_width(uint32_t code_point);
// Columns of harmless UTF-8 text.
size_t text_width(std::string_view text);
// At most `width` columns: "ns::Server::han...request" is cut in its middle, since both ends of a
// name tell it apart. `ellipsis` is "..." or one character.
std::string elide_middle(std::string_view text, size_t width, std::string_view ellipsis = "...");

} // namespace auger
