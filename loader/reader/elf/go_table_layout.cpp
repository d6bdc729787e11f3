// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/go_table_layout.h"

#include <algorithm>
#include <array>

namespace auger {
namespace {

using Bytes = GoTableLayout::Bytes;

// In the first four bytes of the table.
constexpr uint32_t magic_1_2 = 0xfffffffb;
constexpr uint32_t magic_1_16 = 0xfffffffa;
constexpr uint32_t magic_1_18 = 0xfffffff0;
constexpr uint32_t magic_1_20 = 0xfffffff1;

constexpr size_t longest_name = 4096;

Bytes from(Bytes bytes, uint64_t offset) {
    return offset <= bytes.size() ? bytes.subspan(offset) : Bytes();
}

// Seven bits a byte, the lowest first.
std::optional<uint32_t> take_number(Bytes& bytes) {
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
        const auto part = static_cast<uint32_t>(bytes.front());
        bytes = bytes.subspan(1);
        value |= (part & 0x7f) << shift;
        if (!(part & 0x80))
            return value;
    }
    return std::nullopt;
}

} // namespace

std::string_view text_at(Bytes bytes, uint64_t offset) {
    const Bytes text = from(bytes, offset);
    const size_t limit = std::min(text.size(), longest_name);
    const void* end = limit ? std::memchr(text.data(), 0, limit) : nullptr;
    if (!end)
        return {};
    const auto* begin = reinterpret_cast<const char*>(text.data());
    return {begin, static_cast<const char*>(end)};
}

// Two zeros, the smallest instruction, the size of pointers.
bool GoTableLayout::begins(Bytes content) {
    constexpr std::array magics = {magic_1_2, magic_1_16, magic_1_18, magic_1_20};
    return std::ranges::find(magics, number_at<uint32_t>(content, 0)) != magics.end() &&
           number_at<uint32_t>(content, 4) == 0x08010000;
}

std::optional<GoTableLayout> GoTableLayout::read(Bytes content, uint64_t text) {
    constexpr size_t header = 8;
    const auto word = [&](size_t index) {
        return number_at<uint64_t>(content, header + index * sizeof(uint64_t));
    };
    if (!begins(content))
        return std::nullopt;
    const auto magic = number_at<uint32_t>(content, 0);
    GoTableLayout layout;
    layout.count = word(0);
    if (magic == magic_1_2) {
        layout.names = layout.programs = content;
        layout.functions_at = header + sizeof(uint64_t);
        layout.entry_end = 8;
    } else {
        const bool counted = magic != magic_1_16; // from the begin of the code
        const size_t parts = counted ? 3 : 2;
        layout.names_at = word(parts);
        layout.units_at = word(parts + 1);
        layout.files_at = word(parts + 2);
        layout.programs_at = word(parts + 3);
        layout.functions_at = word(parts + 4);
        layout.names = from(content, layout.names_at);
        layout.units = from(content, layout.units_at);
        layout.files = from(content, layout.files_at);
        layout.programs = from(content, layout.programs_at);
        if (counted) {
            layout.text = word(2) ? word(2) : text;
            layout.number = 4;
            layout.entry_end = 4;
        } else {
            layout.entry_end = 8;
        }
        layout.description = magic == magic_1_18 ? 40 : 44;
        layout.flags = layout.description - 3; // of 1.17; of 1.16 it is padding
        layout.call = magic == magic_1_20 ? 16 : 20;
        layout.call_name = magic == magic_1_20 ? 4 : 12;
        layout.call_parent = layout.call_name + 4;
    }
    layout.functions = from(content, layout.functions_at);
    // Each has its place in the list, and a description of its own.
    constexpr size_t least_description = 32;
    layout.count = std::min<uint64_t>(layout.count, layout.functions.size() /
                                                        (2 * layout.number + least_description));
    return layout;
}

uint64_t GoTableLayout::listed(uint64_t index) const {
    return number == 4 ? number_at<uint32_t>(functions, index * 4)
                       : number_at<uint64_t>(functions, index * 8);
}

// In the table of 1.2 descriptions are found from its begin, as everything.
Bytes GoTableLayout::function(uint64_t index) const {
    return from(description == 0 ? programs : functions, listed(2 * index + 1));
}

Bytes GoTableLayout::program(uint32_t offset) const {
    return offset ? from(programs, offset) : Bytes();
}

// Pairs: by how much the value differs, and for how many bytes of code it stays. The first
// difference may be none; later that is the end.
bool GoValues::next() {
    const auto difference = take_number(program_);
    const auto length = take_number(program_);
    if (!difference || !length || (*difference == 0 && !first_))
        return false;
    first_ = false;
    const auto magnitude = static_cast<int64_t>(*difference >> 1);
    value_ += *difference & 1 ? ~magnitude : magnitude;
    begin_ = end_;
    end_ += *length;
    return true;
}

} // namespace auger
