// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/names/perf_map.h"

#include <algorithm>
#include <charconv>

namespace auger {
namespace {

bool take_hexadecimal(std::string_view& text, uint64_t& value) {
    if (text.starts_with("0x"))
        text.remove_prefix(2);
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || stop == text.data() + text.size() || *stop != ' ')
        return false;
    text.remove_prefix(static_cast<size_t>(stop - text.data()) + 1);
    return true;
}

} // namespace

void PerfMap::add(std::string_view text) {
    while (!text.empty()) {
        const size_t line_end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, line_end);
        text.remove_prefix(std::min(line_end + 1, text.size()));
        uint64_t start = 0, size = 0;
        if (!take_hexadecimal(line, start) || !take_hexadecimal(line, size) || line.empty() ||
            !ranges_.add(start, size, line))
            skipped_++;
    }
}

// An unfinished last line is read again when it has been completed.
uint64_t PerfMap::take(std::string_view bytes, bool full) {
    const size_t last = bytes.rfind('\n');
    // A line longer than a chunk is no honest one: its pieces are skipped as malformed.
    const size_t whole = last != bytes.npos ? last + 1 : full ? bytes.size() : 0;
    add(bytes.substr(0, whole));
    return whole;
}

} // namespace auger
