// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/names/code_ranges.h"

namespace auger {

bool CodeRanges::has_room(uint64_t start, uint64_t size) const {
    return size != 0 && start + size >= start && ranges_.size() < most_ranges;
}

bool CodeRanges::add(uint64_t start, uint64_t size, std::string_view name) {
    name = name.substr(0, name_limit);
    if (!has_room(start, size) || name.size() > most_name_bytes - name_bytes_)
        return false;
    clear(start, start + size);
    name_bytes_ += name.size();
    ranges_.insert_or_assign(start, Range{start + size, std::make_shared<const std::string>(name)});
    return true;
}

bool CodeRanges::move(uint64_t from, uint64_t to, uint64_t size) {
    const Range* range = range_at(from);
    if (!range || !has_room(from, size) || !has_room(to, size))
        return false;
    const auto name = range->name;
    clear(from, from + size);
    clear(to, to + size);
    ranges_.insert_or_assign(to, Range{to + size, name});
    return true;
}

void CodeRanges::clear(uint64_t start, uint64_t end) {
    auto at = ranges_.upper_bound(start);
    if (at != ranges_.begin() && std::prev(at)->second.end > start)
        --at;
    while (at != ranges_.end() && at->first < end) {
        const uint64_t old_start = at->first;
        Range old = std::move(at->second);
        at = ranges_.erase(at);
        if (old.end > end)
            at = ranges_.emplace(end, Range{old.end, old.name}).first;
        if (old_start < start)
            ranges_.emplace(old_start, Range{start, old.name});
        if (old.name.use_count() == 1)
            name_bytes_ -= old.name->size();
    }
}

const CodeRanges::Range* CodeRanges::range_at(uint64_t address) const {
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin())
        return nullptr;
    const Range& range = std::prev(after)->second;
    return address < range.end ? &range : nullptr;
}

std::optional<std::string_view> CodeRanges::find(uint64_t address) const {
    const Range* range = range_at(address);
    return range ? std::optional<std::string_view>(*range->name) : std::nullopt;
}

} // namespace auger
