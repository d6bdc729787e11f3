// SPDX-License-Identifier: GPL-3.0-or-later
// The samples, in columns: a ring of fixed capacity whose memory is touched only as it fills. When
// it is full the oldest sample goes.
#pragma once

#include "views/model/call_table.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace auger {

struct StoredSample {
    uint64_t time_ns = 0;
    uint64_t weight_ns = 0;
    StackId stack;
    ThreadId thread;
    CallIndex call = no_call; // the innermost one
    SampleKind kind = SampleKind::cpu;
    uint16_t cpu = 0;
};

class SampleStore {
  public:
    static constexpr size_t default_capacity = 2'000'000;
    // Columns only; the calls that samples lie in come on top (see CallTable).
    static constexpr size_t bytes_per_sample = 8 + 8 + 4 + 4 + 4 + 1 + 2;

    explicit SampleStore(size_t capacity);

    bool full() const { return size_ == capacity_; }
    size_t size() const { return size_; }
    size_t capacity() const { return capacity_; }
    // The oldest sample; the store must not be empty.
    StoredSample oldest() const { return at(full() ? head_ : 0); }
    // Overwrites the oldest when full: the caller has let go of what it referred to.
    void push(const StoredSample&);

    // Is full from now on.
    void keep_no_more() { capacity_ = full() || !size_ ? capacity_ : size_; }

    // Columns in storage order, size() long: the order of arrival, but for one wrap of the ring.
    const uint64_t* times() const { return times_.data(); }
    const uint64_t* weights() const { return weights_.data(); }
    const StackId* stacks() const { return stacks_.data(); }
    const ThreadId* threads() const { return threads_.data(); }
    const CallIndex* calls() const { return calls_.data(); }
    const SampleKind* kinds() const { return kinds_.data(); }
    const uint16_t* cpus() const { return cpus_.data(); }

  private:
    StoredSample at(size_t i) const;

    size_t capacity_;
    size_t size_ = 0;
    size_t head_ = 0; // where the next one goes once full
    std::vector<uint64_t> times_;
    std::vector<uint64_t> weights_;
    std::vector<StackId> stacks_;
    std::vector<ThreadId> threads_;
    std::vector<CallIndex> calls_;
    std::vector<SampleKind> kinds_;
    std::vector<uint16_t> cpus_;
};

} // namespace auger
