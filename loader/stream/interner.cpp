// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/stream/interner.h"

#include <algorithm>
#include <string>

namespace auger {

namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdULL;
}

} // namespace

size_t Interner::LocationHash::operator()(const Location& location) const noexcept {
    return mix(mix(location.module.value, location.address), location.is_return);
}

ThreadId Interner::thread(uint32_t pid, uint32_t tid, std::string_view comm,
                          std::string_view cgroup) {
    ThreadNames& names = threads_[uint64_t{pid} << 32 | tid];
    if (names.last < names.all.size() && names.all[names.last].first == comm)
        return names.all[names.last].second;
    for (names.last = 0; names.last < names.all.size(); names.last++) {
        if (names.all[names.last].first == comm)
            return names.all[names.last].second;
    }
    ThreadId id{next_thread_++};
    names.all.emplace_back(comm, id);
    sink_.on_thread(id, {pid, tid, std::string(comm), std::string(cgroup)});
    return id;
}

std::optional<ThreadId> Interner::last_thread(uint32_t pid, uint32_t tid) const {
    auto known = threads_.find(uint64_t{pid} << 32 | tid);
    if (known == threads_.end())
        return std::nullopt;
    return known->second.all[known->second.last].second;
}

LocationId Interner::location(const Location& location) {
    auto [entry, is_new] =
        locations_.try_emplace(location, LocationId{static_cast<uint32_t>(locations_.size())});
    if (is_new) {
        location_list_.push_back(location);
        sink_.on_location(entry->second, location);
    }
    return entry->second;
}

StackId Interner::stack(std::span<const LocationId> leaf_first) {
    uint64_t hash = leaf_first.size();
    for (LocationId location : leaf_first)
        hash = mix(hash, location.value);
    auto [first, last] = stacks_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
        const Span& span = stack_spans_[entry->second.index()];
        if (span.size == leaf_first.size() &&
            std::equal(leaf_first.begin(), leaf_first.end(),
                       stack_pool_.begin() + static_cast<ptrdiff_t>(span.offset)))
            return entry->second;
    }
    StackId id{static_cast<uint32_t>(stack_spans_.size())};
    stack_spans_.push_back({stack_pool_.size(), static_cast<uint32_t>(leaf_first.size())});
    stack_pool_.insert(stack_pool_.end(), leaf_first.begin(), leaf_first.end());
    stacks_.emplace(hash, id);
    sink_.on_stack(id, leaf_first);
    return id;
}

} // namespace auger
