// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/sum_columns.h"

#include <cmath>

namespace auger {

namespace {

template <typename T>
T& at(std::vector<T>& column, uint32_t thing) {
    if (thing >= column.size())
        column.resize(thing + 1);
    return column[thing];
}

// Rounding errors of additions stay far below this share of the sum.
constexpr double noise = 1e-11;

} // namespace

void SumColumns::add(uint32_t thing, CallClass of, const SampleSum& sum) {
    if (sum.samples == 0 && sum.weight_ns == 0)
        return; // needs no column
    auto c = static_cast<size_t>(of);
    Weight& weight = at(weights_[c], thing);
    weight.samples += sum.samples;
    weight.weight_ns += sum.weight_ns;
    if (sum.blocked_ns != 0 || sum.runnable_ns != 0) {
        Waits& waits = at(waits_[c], thing);
        waits.blocked_ns += sum.blocked_ns;
        waits.runnable_ns += sum.runnable_ns;
    }
}

void SumColumns::clear(uint32_t thing) {
    for (std::vector<Weight>& column : weights_)
        if (thing < column.size())
            column[thing] = {};
    for (std::vector<Waits>& column : waits_)
        if (thing < column.size())
            column[thing] = {};
}

ClassSums SumColumns::read(uint32_t thing, double scale) const {
    ClassSums sums;
    double samples = 0, weight = 0;
    for (size_t c = 0; c < call_classes; c++) {
        SampleSum& sum = sums.by_class[c];
        if (thing < weights_[c].size()) {
            sum.samples = weights_[c][thing].samples;
            sum.weight_ns = weights_[c][thing].weight_ns;
        }
        if (thing < waits_[c].size()) {
            sum.blocked_ns = waits_[c][thing].blocked_ns;
            sum.runnable_ns = waits_[c][thing].runnable_ns;
        }
        samples += std::abs(sum.samples);
        weight += std::abs(sum.weight_ns);
    }
    auto clean = [scale](double& value, double whole) {
        value = std::abs(value) <= noise * whole ? 0 : value * scale;
    };
    for (SampleSum& sum : sums.by_class) {
        clean(sum.samples, samples);
        clean(sum.weight_ns, weight);
        clean(sum.blocked_ns, weight);
        clean(sum.runnable_ns, weight);
    }
    return sums;
}

size_t SumColumns::memory_bytes() const {
    size_t bytes = 0;
    for (size_t c = 0; c < call_classes; c++)
        bytes += weights_[c].capacity() * sizeof(Weight) + waits_[c].capacity() * sizeof(Waits);
    return bytes;
}

} // namespace auger
