// SPDX-License-Identifier: GPL-3.0-or-later
// Sums by class of many things (nodes, leaves), in columns that are there only where they are used:
// without a split there is one class, and without sampled waits nothing but running time.
#pragma once

#include "views/model/call_class.h"

#include <cstddef>
#include <vector>

namespace auger {

class SumColumns {
  public:
    void add(uint32_t thing, CallClass of, const SampleSum& sum);
    void clear(uint32_t thing);
    // Times `scale`. What rounding has left of sums that were taken out again is 0.
    ClassSums read(uint32_t thing, double scale) const;
    size_t memory_bytes() const;

  private:
    struct Weight {
        double samples = 0;
        double weight_ns = 0;
    };
    struct Waits {
        double blocked_ns = 0;
        double runnable_ns = 0;
    };
    std::array<std::vector<Weight>, call_classes> weights_; // by thing, as long as it needs to be
    std::array<std::vector<Waits>, call_classes> waits_;
};

} // namespace auger
