// SPDX-License-Identifier: GPL-3.0-or-later
// RecordQueue: copies of records, handed over in order, a slice of time at a time.
#pragma once

#include "loader/base/time_slice.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace auger {

class RecordQueue {
  public:
    void add(std::span<const std::byte> record) {
        const size_t at = words_.size();
        words_.resize(at + words_of(record.size()));
        std::memcpy(words_.data() + at, record.data(), record.size());
        sizes_.push_back(static_cast<uint32_t>(record.size()));
    }

    bool empty() const { return sizes_.empty(); }
    // Held for records, those included that were handed over in the slices before.
    size_t bytes() const { return words_.size() * sizeof(uint64_t); }

    // At least one, then until the slice is over; returns how many. `handle` must not add any. When
    // it answers false, the record cannot be handled yet: it stays the first, and this ends.
    template <typename Handler>
    size_t drain(const TimeSlice& slice, Handler&& handle) {
        const size_t first = next_;
        while (next_ < sizes_.size()) {
            const uint32_t size = sizes_[next_];
            const auto* bytes = reinterpret_cast<const std::byte*>(words_.data() + at_);
            if (!handle(std::span<const std::byte>(bytes, size)))
                break;
            next_++;
            at_ += words_of(size);
            if (slice.over())
                break;
        }
        const size_t handled = next_ - first;
        if (next_ == sizes_.size()) {
            words_.clear();
            sizes_.clear();
            next_ = at_ = 0;
        }
        return handled;
    }

  private:
    static size_t words_of(size_t bytes) { return (bytes + 7) / 8; }

    std::vector<uint64_t> words_; // records one behind the other, each aligned to 8 bytes
    std::vector<uint32_t> sizes_;
    size_t next_ = 0; // record to hand over
    size_t at_ = 0;   // where it begins in words_
};

} // namespace auger
