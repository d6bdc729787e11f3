// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindCells: the address space of 8-byte cells in which unwind tables and lists of mappings lie
// (bpf/unwind_table.h). It grows by shards, as it is used; what is given back is used again only
// when no walk can be reading it any more.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/kernel/mapped_array.h"

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

namespace auger {

// Cells [first, first + count).
struct CellRange {
    uint32_t first = 0;
    uint32_t count = 0;
};

class UnwindCells {
  public:
    // `shards_fd`: the map of shards. `most`: cells to be had at all.
    explicit UnwindCells(int shards_fd, uint64_t most = default_most);

    // `count` is rounded up to a multiple of WIRE_UNWIND_ALIGNMENT, and so is where ranges begin.
    // Fails when `most` would be exceeded (kind `limit` of the message) or memory is short.
    Result<CellRange> allocate(uint32_t count);
    uint64_t read(uint32_t cell) const;
    // The first of the WIRE_UNWIND_SHARD_CELLS cells of a shard; null: there is none of this
    // number.
    const uint64_t* shard(uint32_t number) const {
        return number < shards_.size() ? shards_[number].cells.at(0) : nullptr;
    }
    void write(uint32_t first, std::span<const uint64_t> values);
    // `now_ns` of CLOCK_MONOTONIC: the range rests for a second.
    void release(CellRange range, uint64_t now_ns);
    // Takes back what has rested.
    void recycle(uint64_t now_ns);

    bool any_rest() const { return !resting_.empty(); } // there will be room
    uint64_t used() const { return used_; }             // cells, those that rest included

    static constexpr uint64_t default_most = uint64_t{64} << 20; // 512 MB

  private:
    struct Shard {
        UniqueFd map;
        MappedArray<uint64_t> cells;
    };
    struct Resting {
        CellRange range;
        uint64_t until_ns;
    };

    Result<void> grow(uint32_t count);
    void give_back(CellRange range);

    int shards_fd_;
    uint64_t most_;
    uint64_t used_ = 0;
    std::vector<Shard> shards_;
    std::map<uint32_t, uint32_t> free_; // count by first cell; neighbours are joined
    std::deque<Resting> resting_;
};

} // namespace auger
