// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/go_table.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace auger {
namespace {

using Bytes = std::span<const std::byte>;

// In the first four bytes of the table.
constexpr uint32_t magic_1_2 = 0xfffffffb;
constexpr uint32_t magic_1_16 = 0xfffffffa;
constexpr uint32_t magic_1_18 = 0xfffffff0;
constexpr uint32_t magic_1_20 = 0xfffffff1;

constexpr uint8_t flag_outermost = 1;
constexpr uint8_t flag_changes_sp = 2;
constexpr size_t longest_name = 4096;
constexpr size_t most_rows = 4096; // of a function

template <typename Number>
Number number_at(Bytes bytes, uint64_t offset) {
    Number value{};
    if (offset <= bytes.size() && bytes.size() - offset >= sizeof value)
        std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

Bytes from(Bytes bytes, uint64_t offset) {
    return offset <= bytes.size() ? bytes.subspan(offset) : Bytes();
}

std::string_view text_at(Bytes bytes, uint64_t offset) {
    const Bytes text = from(bytes, offset);
    const size_t limit = std::min(text.size(), longest_name);
    const void* end = limit ? std::memchr(text.data(), 0, limit) : nullptr;
    if (!end)
        return {};
    const auto* begin = reinterpret_cast<const char*>(text.data());
    return {begin, static_cast<const char*>(end)};
}

// Of a known version; two zeros, the smallest instruction, the size of pointers.
bool begins_as_table(Bytes content) {
    constexpr std::array magics = {magic_1_2, magic_1_16, magic_1_18, magic_1_20};
    return std::ranges::find(magics, number_at<uint32_t>(content, 0)) != magics.end() &&
           number_at<uint32_t>(content, 4) == 0x08010000;
}

// Where the parts of the table lie; it has changed with Go's versions.
struct Layout {
    Bytes names, programs, functions;
    uint64_t count = 0;
    uint64_t text = 0;    // what the functions' addresses are counted from
    size_t number = 8;    // bytes of an address in the list of functions
    size_t flags = 0;     // where they stand in a function's description; 0: there are none
    size_t entry_end = 0; // of the address that begins it

    static std::optional<Layout> read(Bytes content, uint64_t text) {
        constexpr size_t header = 8;
        const auto word = [&](size_t index) {
            return number_at<uint64_t>(content, header + index * sizeof(uint64_t));
        };
        if (!begins_as_table(content))
            return std::nullopt;
        const auto magic = number_at<uint32_t>(content, 0);
        Layout layout;
        layout.count = word(0);
        if (magic == magic_1_18 || magic == magic_1_20) {
            layout.text = word(2) ? word(2) : text;
            layout.names = from(content, word(3));
            layout.programs = from(content, word(6));
            layout.functions = from(content, word(7));
            layout.number = 4;
            layout.flags = magic == magic_1_20 ? 41 : 37;
            layout.entry_end = 4;
        } else if (magic == magic_1_16) {
            layout.names = from(content, word(2));
            layout.programs = from(content, word(5));
            layout.functions = from(content, word(6));
            layout.flags = 41; // of 1.17; of 1.16 it is padding
            layout.entry_end = 8;
        } else {
            layout.names = layout.programs = content;
            layout.functions = from(content, header + sizeof(uint64_t));
            layout.entry_end = 8;
        }
        layout.count =
            std::min<uint64_t>(layout.count, layout.functions.size() / (2 * layout.number));
        return layout;
    }
    // Item `index` of the list of functions: addresses and descriptions in turn.
    uint64_t listed(uint64_t index) const {
        return number == 4 ? number_at<uint32_t>(functions, index * 4)
                           : number_at<uint64_t>(functions, index * 8);
    }
    // In the table of 1.2 descriptions are found from its begin, as everything.
    Bytes description(uint64_t index) const {
        const uint64_t offset = listed(2 * index + 1);
        return from(flags == 0 ? programs : functions, offset);
    }
};

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

size_t GoTable::find(std::span<const std::byte> data) {
    size_t at = 0;
    while (at < data.size() && !begins_as_table(data.subspan(at)))
        at += std::min(data.size() - at, sizeof(uint64_t));
    return at;
}

std::optional<GoTable> GoTable::read(std::span<const std::byte> content, uint64_t text) {
    const auto layout = Layout::read(content, text);
    if (!layout)
        return std::nullopt;
    GoTable table;
    table.programs_ = layout->programs;
    table.functions_.reserve(layout->count);
    uint64_t last_end = 0;
    for (uint64_t i = 0; i < layout->count; i++) {
        const uint64_t begin = layout->text + layout->listed(2 * i);
        const uint64_t end = layout->text + layout->listed(2 * i + 2);
        const Bytes description = layout->description(i);
        const std::string_view name =
            text_at(layout->names, number_at<uint32_t>(description, layout->entry_end));
        if (begin < last_end || end <= begin || name.empty())
            continue;
        last_end = end;
        const auto flags =
            layout->flags ? number_at<uint8_t>(description, layout->flags) : uint8_t{0};
        // Behind the name: the size of the arguments, and where panics go on.
        const auto program = number_at<uint32_t>(description, layout->entry_end + 12);
        table.functions_.push_back({begin, end, name, (flags & flag_outermost) != 0,
                                    (flags & flag_changes_sp) != 0, program});
    }
    return table;
}

const GoFunction* GoTable::containing(uint64_t address) const {
    const auto behind = std::ranges::upper_bound(functions_, address, {}, &GoFunction::begin);
    if (behind == functions_.begin() || address >= std::prev(behind)->end)
        return nullptr;
    return &*std::prev(behind);
}

const GoFunction* GoTable::named(std::string_view name) const {
    const auto found = std::ranges::find(functions_, name, &GoFunction::name);
    return found == functions_.end() ? nullptr : &*found;
}

std::vector<GoStackRow> GoTable::stack_rows(const GoFunction& function) const {
    std::vector<GoStackRow> rows;
    if (function.stack_program == 0)
        return rows;
    Bytes bytes = from(programs_, function.stack_program);
    uint64_t address = function.begin;
    int64_t depth = -1;
    // Pairs: by how much the depth differs, and for how many instructions it stays. The first
    // difference may be none; later that is the end.
    while (address < function.end && rows.size() < most_rows) {
        const auto difference = take_number(bytes);
        const auto length = take_number(bytes);
        if (!difference || !length || (*difference == 0 && !rows.empty()))
            break;
        const auto magnitude = static_cast<int64_t>(*difference >> 1);
        depth += *difference & 1 ? ~magnitude : magnitude;
        rows.push_back({address, depth});
        address += *length;
    }
    return rows;
}

} // namespace auger
