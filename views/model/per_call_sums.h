// SPDX-License-Identifier: GPL-3.0-or-later
// Sums per call, for many things (functions, stacks) at once: what a comparison of two classes of
// calls rests on. Their moments tell the size of a difference, how they are spread over the calls
// whether it can be chance.
#pragma once

#include "views/model/diff.h"
#include "views/model/permutation_test.h"

#include <array>
#include <vector>

namespace auger {

// One thing's weight over the calls of one class. Calls without a sample add nothing here; they
// count through the number of calls.
struct Moments {
    double sum = 0;
    double sum_of_squares = 0;
    uint64_t calls = 0; // with any weight in this thing
};

// Weights of the things seen in one call, added up before their squares are.
class PerCallSums {
  public:
    // Things are numbers below `things`.
    explicit PerCallSums(size_t things = 0) { grow(things); }
    void grow(size_t things) {
        if (things > moments_.size()) {
            in_call_.resize(things);
            moments_.resize(things);
            values_.resize(things);
        }
    }
    void add(uint32_t thing, double weight) {
        if (in_call_[thing] == 0)
            touched_.push_back(thing);
        in_call_[thing] += weight;
    }
    // Ends a call: its sums go into the moments of `side` (0 or 1).
    void end_call(size_t side);
    size_t size() const { return moments_.size(); }
    const std::array<Moments, 2>& operator[](size_t thing) const { return moments_[thing]; }
    // Calls by their sums, within 3 %.
    std::span<const CallsOfValue> values(size_t thing) const { return values_[thing]; }

  private:
    void count(uint32_t thing, double weight, size_t side);

    std::vector<std::array<Moments, 2>> moments_;
    std::vector<std::vector<CallsOfValue>> values_;
    std::vector<double> in_call_;
    std::vector<uint32_t> touched_;
};

// The difference of the two sides' means over `calls` calls each, with margin and p-value.
DiffEntry compare(const std::array<Moments, 2>& moments, std::span<const CallsOfValue> values,
                  double calls_first, double calls_second);

// Marks what is significant at a false discovery rate of 5 % (Benjamini and Hochberg), of those
// that could be, and tells of the others how many more calls would make them so. Returns how many
// could.
size_t mark_significant(std::vector<DiffEntry*> entries, double calls_first, double calls_second);

} // namespace auger
