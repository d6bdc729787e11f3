// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/unwind_cells.h"

#include "bpf/unwind_table.h"
#include "loader/kernel/bpf_calls.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace auger {

UnwindCells::UnwindCells(int shards_fd, uint64_t most)
    : shards_fd_(shards_fd),
      most_(std::min<uint64_t>(most, uint64_t{WIRE_UNWIND_SHARDS} << WIRE_UNWIND_SHARD_BITS)) {}

Result<void> UnwindCells::grow(uint32_t count) {
    const auto wanted = (count + WIRE_UNWIND_SHARD_CELLS - 1) >> WIRE_UNWIND_SHARD_BITS;
    if ((shards_.size() + wanted) << WIRE_UNWIND_SHARD_BITS > most_)
        return Error{"keep unwind tables", "",
                     fmt::format("they would take more than {} MB", most_ >> 17),
                     "observe fewer programs at once"};
    std::vector<Shard> made;
    std::vector<int> maps;
    for (uint32_t i = 0; i < wanted; i++) {
        LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
        const int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_shard", sizeof(uint32_t),
                                      WIRE_UNWIND_BLOCK_CELLS * sizeof(uint64_t),
                                      WIRE_UNWIND_SHARD_BLOCKS, &options);
        if (fd < 0)
            return system_error("create map", "unwind_shard", "", -fd);
        Shard shard{UniqueFd(fd), {}};
        auto cells = MappedArray<uint64_t>::make(fd, WIRE_UNWIND_SHARD_CELLS, "unwind_shard");
        if (!cells)
            return cells.error();
        shard.cells = std::move(*cells);
        made.push_back(std::move(shard));
        maps.push_back(fd);
    }
    const auto first = static_cast<uint32_t>(shards_.size());
    std::vector<uint32_t> indices(maps.size());
    std::iota(indices.begin(), indices.end(), first);
    if (auto entered = enter_maps(shards_fd_, indices, maps, "unwind_shard"); !entered)
        return entered;
    for (Shard& shard : made)
        shards_.push_back(std::move(shard));
    give_back({first << WIRE_UNWIND_SHARD_BITS, wanted << WIRE_UNWIND_SHARD_BITS});
    return {};
}

Result<CellRange> UnwindCells::allocate(uint32_t count) {
    if (count == 0)
        return CellRange{};
    count = (count + WIRE_UNWIND_ALIGNMENT - 1) / WIRE_UNWIND_ALIGNMENT * WIRE_UNWIND_ALIGNMENT;
    const auto find = [&] {
        return std::ranges::find_if(free_,
                                    [&](const auto& entry) { return entry.second >= count; });
    };
    auto place = find();
    if (place == free_.end()) {
        if (auto grown = grow(count); !grown)
            return grown.error();
        place = find();
    }
    const auto [first, size] = *place;
    free_.erase(place);
    if (size > count)
        free_.emplace(first + count, size - count);
    used_ += count;
    return CellRange{first, count};
}

uint64_t UnwindCells::read(uint32_t cell) const {
    return *shards_[cell >> WIRE_UNWIND_SHARD_BITS].cells.at(cell & (WIRE_UNWIND_SHARD_CELLS - 1));
}

void UnwindCells::write(uint32_t first, std::span<const uint64_t> values) {
    while (!values.empty()) {
        const uint32_t index = first & (WIRE_UNWIND_SHARD_CELLS - 1);
        const size_t here = std::min<size_t>(values.size(), WIRE_UNWIND_SHARD_CELLS - index);
        std::memcpy(shards_[first >> WIRE_UNWIND_SHARD_BITS].cells.at(index), values.data(),
                    here * sizeof(uint64_t));
        first += static_cast<uint32_t>(here);
        values = values.subspan(here);
    }
}

void UnwindCells::release(CellRange range, uint64_t now_ns) {
    if (range.count)
        resting_.push_back({range, now_ns + WIRE_UNWIND_REST_NS});
}

void UnwindCells::recycle(uint64_t now_ns) {
    for (; !resting_.empty() && resting_.front().until_ns <= now_ns; resting_.pop_front()) {
        used_ -= resting_.front().range.count;
        give_back(resting_.front().range);
    }
}

void UnwindCells::give_back(CellRange range) {
    auto after = free_.upper_bound(range.first);
    if (after != free_.end() && after->first == range.first + range.count) {
        range.count += after->second;
        after = free_.erase(after);
    }
    if (after != free_.begin()) {
        auto before = std::prev(after);
        if (before->first + before->second == range.first) {
            before->second += range.count;
            return;
        }
    }
    free_.emplace(range.first, range.count);
}

} // namespace auger
