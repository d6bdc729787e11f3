// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/line_table.h"

namespace auger {
namespace {

constexpr uint64_t unit_bytes = 2; // of code

// An entry is a byte with the highest bit set, which says its kind and of how many units of code it
// tells, and bytes without it.
constexpr unsigned entry_bit = 0x80;

// Kinds of entries. Those below have the line of the entry before, and columns.
constexpr unsigned same_line = 10; // and the two after it: none, one and two lines further down
constexpr unsigned two_lines = 12;
constexpr unsigned no_columns = 13; // the distance in lines follows
constexpr unsigned long_form = 14;  // the same, then columns
constexpr unsigned no_location = 15;

class Entries {
  public:
    explicit Entries(std::span<const std::byte> table) : table_(table) {}

    bool at_end() const { return at_ >= table_.size(); }
    // The byte an entry begins with, then what follows in it.
    unsigned begin() { return byte(); }
    // Six bits a byte, lowest first; the seventh: there are more. The lowest of all is the sign.
    int64_t distance() {
        uint64_t value = 0;
        for (unsigned shift = 0; !at_end() && !begins(); shift += 6) {
            const unsigned part = byte();
            if (shift < 32)
                value |= uint64_t{part & 0x3f} << shift;
            if (!(part & 0x40))
                break;
        }
        value &= UINT32_MAX;
        const auto lines = static_cast<int64_t>(value >> 1);
        return value & 1 ? -lines : lines;
    }
    void skip() {
        while (!at_end() && !begins())
            ++at_;
    }

  private:
    bool begins() const { return std::to_integer<unsigned>(table_[at_]) & entry_bit; }
    unsigned byte() { return std::to_integer<unsigned>(table_[at_++]); }

    std::span<const std::byte> table_;
    size_t at_ = 0;
};

uint32_t line_or_none(int64_t line) {
    return line > 0 && line <= INT32_MAX ? static_cast<uint32_t>(line) : 0;
}

// Pairs of bytes: so many further bytes of code have the line that was reached, and then it is so
// many lines further down (Objects/lnotab_notes.txt of 3.9).
uint32_t line_by_steps(std::span<const std::byte> table, int64_t line, uint32_t offset) {
    uint64_t end = 0;
    for (size_t at = 0; at + 1 < table.size(); at += 2) {
        end += std::to_integer<uint8_t>(table[at]);
        if (offset < end)
            break;
        line += std::to_integer<int8_t>(table[at + 1]);
    }
    return line_or_none(line);
}

// Pairs of bytes: it is so many lines further down, or there is none, for so many further bytes of
// code (Objects/lnotab_notes.txt of 3.10).
uint32_t line_by_ranges(std::span<const std::byte> table, int64_t line, uint32_t offset) {
    constexpr int8_t none = -128;
    uint64_t end = 0;
    for (size_t at = 0; at + 1 < table.size(); at += 2) {
        end += std::to_integer<uint8_t>(table[at]);
        const auto lines = std::to_integer<int8_t>(table[at + 1]);
        if (lines != none)
            line += lines;
        if (offset < end)
            return lines != none ? line_or_none(line) : 0;
    }
    return 0;
}

uint32_t line_by_locations(std::span<const std::byte> table, int64_t line, uint32_t offset) {
    uint64_t end = 0;
    for (Entries entries(table); !entries.at_end(); entries.skip()) {
        const unsigned first = entries.begin();
        const unsigned kind = first >> 3 & 15;
        if (kind >= same_line && kind <= two_lines)
            line += kind - same_line;
        else if (kind == no_columns || kind == long_form)
            line += entries.distance();
        end += ((first & 7) + 1) * unit_bytes;
        if (offset < end)
            return kind != no_location ? line_or_none(line) : 0;
    }
    return 0;
}

} // namespace

uint32_t python_line(PythonLines form, std::span<const std::byte> table, uint32_t first_line,
                     uint32_t offset) {
    if (offset > INT32_MAX)
        return line_or_none(first_line);
    switch (form) {
    case python_lines_steps:
        return line_by_steps(table, first_line, offset);
    case python_lines_ranges:
        return line_by_ranges(table, first_line, offset);
    case python_lines_locations:
        break;
    }
    return line_by_locations(table, first_line, offset);
}

} // namespace auger
