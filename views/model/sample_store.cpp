// SPDX-License-Identifier: GPL-3.0-or-later
// Columns are reserved at once and touched as they fill: growing them would copy and, for a moment,
// hold everything twice.
#include "views/model/sample_store.h"

#include <algorithm>

namespace auger {

SampleStore::SampleStore(size_t capacity) : capacity_(std::max<size_t>(1, capacity)) {
    times_.reserve(capacity_);
    weights_.reserve(capacity_);
    stacks_.reserve(capacity_);
    threads_.reserve(capacity_);
    calls_.reserve(capacity_);
    kinds_.reserve(capacity_);
    cpus_.reserve(capacity_);
}

void SampleStore::push(const StoredSample& sample) {
    if (!full()) {
        times_.push_back(sample.time_ns);
        weights_.push_back(sample.weight_ns);
        stacks_.push_back(sample.stack);
        threads_.push_back(sample.thread);
        calls_.push_back(sample.call);
        kinds_.push_back(sample.kind);
        cpus_.push_back(sample.cpu);
        size_++;
        return;
    }
    times_[head_] = sample.time_ns;
    weights_[head_] = sample.weight_ns;
    stacks_[head_] = sample.stack;
    threads_[head_] = sample.thread;
    calls_[head_] = sample.call;
    kinds_[head_] = sample.kind;
    cpus_[head_] = sample.cpu;
    head_ = head_ + 1 == capacity_ ? 0 : head_ + 1;
}

StoredSample SampleStore::at(size_t i) const {
    return {times_[i], weights_[i], stacks_[i], threads_[i], calls_[i], kinds_[i], cpus_[i]};
}

} // namespace auger
