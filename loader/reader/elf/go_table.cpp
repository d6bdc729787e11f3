// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/go_table.h"

#include <algorithm>

namespace auger {
namespace {

constexpr uint8_t flag_outermost = 1;
constexpr uint8_t flag_changes_sp = 2;
constexpr std::string_view goroutine_begin = "runtime.goexit";
constexpr size_t most_rows = 4096; // of a function

} // namespace

size_t GoTable::find(std::span<const std::byte> data) {
    size_t at = 0;
    while (at < data.size() && !GoTableLayout::begins(data.subspan(at)))
        at += std::min(data.size() - at, sizeof(uint64_t));
    return at;
}

std::optional<GoTable> GoTable::read(std::span<const std::byte> content, uint64_t text) {
    const auto layout = GoTableLayout::read(content, text);
    if (!layout)
        return std::nullopt;
    GoTable table(*layout);
    table.functions_.reserve(layout->count);
    uint64_t last_end = 0;
    for (uint64_t i = 0; i < layout->count; i++) {
        const uint64_t begin = layout->text + layout->listed(2 * i);
        const uint64_t end = layout->text + layout->listed(2 * i + 2);
        const std::span<const std::byte> description = layout->function(i);
        const std::string_view name =
            text_at(layout->names, number_at<uint32_t>(description, layout->entry_end));
        if (begin < last_end || end <= begin || name.empty())
            continue;
        last_end = end;
        const auto flags =
            layout->flags ? number_at<uint8_t>(description, layout->flags) : uint8_t{0};
        // Before Go 1.17 the table does not say what goroutines begin with.
        const bool outermost = (flags & flag_outermost) != 0 || name == goroutine_begin;
        table.functions_.push_back(
            {begin, end, name, outermost, (flags & flag_changes_sp) != 0, description});
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
    // Behind the name: the size of the arguments, and where panics go on.
    const auto program = number_at<uint32_t>(function.description, layout_.entry_end + 12);
    std::vector<GoStackRow> rows;
    GoValues depths(layout_.program(program), function.begin);
    while (rows.size() < most_rows && depths.next() && depths.begin() < function.end)
        rows.push_back({depths.begin(), depths.value()});
    return rows;
}

} // namespace auger
