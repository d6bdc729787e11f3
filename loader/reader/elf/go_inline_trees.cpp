// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/go_inline_trees.h"

#include "loader/reader/elf/go_module_data.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace auger {
namespace {

// Numbers of what compilers keep of a function (PCDATA_InlTreeIndex, FUNCDATA_InlTree).
constexpr uint32_t numbers_index = 2;
constexpr uint32_t tree_index = 3;
constexpr uint32_t no_tree = std::numeric_limits<uint32_t>::max();

constexpr int64_t most_calls = 1 << 20;      // of a function; Go's own limit
constexpr int64_t most_listed_calls = 4096;  // some hundred are usual in large functions
constexpr size_t most_number_rows = 1 << 12; // some hundred likewise
// To know the place that they count from: functions that are looked at, and those of them that have
// trees.
constexpr size_t most_looked_at = 1 << 16;
constexpr size_t most_samples = 64;

} // namespace

std::optional<GoInlineTrees> GoInlineTrees::of_file(const ElfFile& file) {
    const GoTable* table = file.go_table();
    if (!table || !table->layout().has_lines())
        return std::nullopt;
    GoInlineTrees trees(
        *table, [&file](uint64_t address, size_t size) { return file.read_code(address, size); });
    trees.locate(read_go_module_data(file));
    return trees;
}

// Before Go 1.18 the table has the trees' addresses.
GoInlineTrees::GoInlineTrees(const GoTable& table, Read read)
    : table_(table), read_(std::move(read)) {
    if (table_.layout().number == sizeof(uint64_t))
        place_ = 0;
}

// Behind a description's fixed part: where programs of values lie, and then what else there is.
std::span<const std::byte> GoInlineTrees::numbers(const GoFunction& function) const {
    const GoTableLayout& layout = table_.layout();
    const auto programs = number_at<uint32_t>(function.description, layout.entry_end + 24);
    if (!layout.has_lines() || programs <= numbers_index)
        return {};
    return layout.program(number_at<uint32_t>(
        function.description, layout.description + sizeof(uint32_t) * numbers_index));
}

std::optional<uint64_t> GoInlineTrees::offset_of_tree(const GoFunction& function) const {
    const GoTableLayout& layout = table_.layout();
    const std::span<const std::byte> description = function.description;
    const auto programs = number_at<uint32_t>(description, layout.entry_end + 24);
    if (!layout.has_lines() ||
        number_at<uint8_t>(description, layout.description - 1) <= tree_index)
        return std::nullopt;
    const uint64_t at = layout.description + sizeof(uint32_t) * uint64_t{programs};
    if (layout.number == sizeof(uint32_t)) {
        const uint64_t slot = at + sizeof(uint32_t) * tree_index;
        const auto offset = number_at<uint32_t>(description, slot);
        return slot + sizeof offset > description.size() || offset == no_tree
                   ? std::nullopt
                   : std::optional<uint64_t>(offset);
    }
    // Addresses, which are aligned.
    constexpr uint64_t alignment = sizeof(uint64_t);
    const uint64_t begin =
        layout.functions_at + static_cast<uint64_t>(description.data() - layout.functions.data());
    const uint64_t aligned = (begin + at + alignment - 1) / alignment * alignment - begin;
    const auto address = number_at<uint64_t>(description, aligned + sizeof(uint64_t) * tree_index);
    return address ? std::optional(address) : std::nullopt;
}

int64_t GoInlineTrees::highest_number(const GoFunction& function) const {
    GoValues values(numbers(function), function.begin);
    int64_t highest = -1;
    for (size_t rows = 0; rows < most_number_rows && values.next(); rows++)
        highest = std::max(highest, values.value());
    return highest;
}

bool GoInlineTrees::begins_name(uint32_t offset) const {
    const std::span<const std::byte> names = table_.layout().names;
    return offset < names.size() && names[offset] != std::byte{0} &&
           (offset == 0 || names[offset - 1] == std::byte{0});
}

// `tree` begins with the call.
std::optional<GoInlineTrees::Call> GoInlineTrees::read_call(const GoFunction& function,
                                                            std::span<const std::byte> tree,
                                                            int64_t number) const {
    const GoTableLayout& layout = table_.layout();
    const uint64_t at = static_cast<uint64_t>(number) * layout.call;
    if (at > tree.size() || tree.size() - at < layout.call)
        return std::nullopt;
    const auto name = number_at<uint32_t>(tree, at + layout.call_name);
    const auto from = number_at<uint32_t>(tree, at + layout.call_parent);
    if (!begins_name(name) || from >= function.end - function.begin)
        return std::nullopt;
    const Call call{text_at(layout.names, name), function.begin + from};
    return call.function.empty() ? std::nullopt : std::optional(call);
}

std::optional<GoInlineTrees::Call> GoInlineTrees::call(const GoFunction& function,
                                                       int64_t number) const {
    const auto offset = offset_of_tree(function);
    if (!place_ || !offset || number < 0 || number >= most_calls)
        return std::nullopt;
    const size_t size = table_.layout().call;
    return read_call(function,
                     read_(*place_ + *offset + static_cast<uint64_t>(number) * size, size), 0);
}

std::vector<GoInlineTrees::Call> GoInlineTrees::calls(const GoFunction& function) const {
    std::vector<Call> calls;
    const auto offset = offset_of_tree(function);
    const int64_t highest = place_ && offset ? highest_number(function) : -1;
    if (highest < 0)
        return calls;
    const auto count = static_cast<size_t>(std::min(highest + 1, most_listed_calls));
    const std::vector<std::byte> tree = read_(*place_ + *offset, count * table_.layout().call);
    for (size_t number = 0; number < count; number++)
        if (const auto call = read_call(function, tree, static_cast<int64_t>(number)))
            calls.push_back(*call);
    return calls;
}

std::vector<GoInlineTrees::Sample> GoInlineTrees::samples() const {
    std::vector<Sample> samples;
    const std::vector<GoFunction>& functions = table_.functions();
    for (size_t i = 0; i < std::min(functions.size(), most_looked_at); i++) {
        const auto offset = offset_of_tree(functions[i]);
        const int64_t highest = offset ? highest_number(functions[i]) : -1;
        if (highest < 0 || highest >= most_listed_calls)
            continue;
        samples.push_back({&functions[i], *offset, highest + 1});
        if (samples.size() == most_samples)
            break;
    }
    return samples;
}

// Zeros are a call of the function that is named first, from where the code begins: some may be
// that, most are not.
bool GoInlineTrees::make_sense(std::span<const Sample> samples, uint64_t place) const {
    const GoTableLayout& layout = table_.layout();
    size_t calls = 0, first_named = 0;
    for (const Sample& sample : samples) {
        const std::vector<std::byte> tree =
            read_(place + sample.offset, static_cast<size_t>(sample.calls) * layout.call);
        for (int64_t number = 0; number < sample.calls; number++) {
            const auto call = read_call(*sample.function, tree, number);
            if (!call)
                return false;
            calls++;
            first_named +=
                call->function.data() == reinterpret_cast<const char*>(layout.names.data());
        }
    }
    return 2 * first_named < calls;
}

void GoInlineTrees::locate(std::span<const uint64_t> places) {
    if (place_ || !table_.layout().has_lines())
        return;
    const std::vector<Sample> taken = samples();
    const auto found =
        std::ranges::find_if(places, [&](uint64_t place) { return make_sense(taken, place); });
    if (found != places.end())
        place_ = *found;
}

} // namespace auger
