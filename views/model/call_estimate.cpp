// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/call_estimate.h"

#include <algorithm>

namespace auger {

namespace {
// Sampled calls that a stratum of durations has at least, where there are that many: so few calls
// of one duration would stand for many only by chance.
constexpr double stratum_calls = 10;
} // namespace

void CallEstimate::add(uint64_t duration_ns, int side) {
    uint32_t bucket = bucket_of(duration_ns);
    if (bucket >= sampled_.size())
        sampled_.resize(bucket + 1);
    sampled_[bucket].all++;
    if (side >= 0)
        sampled_[bucket].of_side[static_cast<size_t>(side)]++;
}

std::array<double, 2> CallEstimate::calls(const WeightedHistogram& durations,
                                          uint64_t boundary_ns) const {
    auto end = static_cast<uint32_t>(std::max<size_t>(durations.end_bucket(), sampled_.size()));
    uint32_t boundary = boundary_ns ? bucket_of(boundary_ns) + 1 : 0;
    std::array<double, 2> sum{};
    // From the longest down: those are sampled most, so what is left over in the end (short calls,
    // none of them sampled) belongs to the shortest stratum that has a sample.
    for (auto [low, high] : {std::pair(boundary, end), std::pair(0u, std::min(boundary, end))}) {
        Sampled stratum, last;
        double counted = 0, last_counted = 0;
        auto settle = [&] {
            for (size_t side = 0; side < 2; side++)
                if (last.all > 0)
                    sum[side] += last_counted * last.of_side[side] / last.all;
        };
        for (uint32_t bucket = high; bucket-- > low;) {
            counted += bucket < durations.end_bucket() ? durations.count(bucket) : 0;
            if (bucket < sampled_.size()) {
                stratum.all += sampled_[bucket].all;
                for (size_t side = 0; side < 2; side++)
                    stratum.of_side[side] += sampled_[bucket].of_side[side];
            }
            if (stratum.all < stratum_calls)
                continue;
            settle();
            last = stratum;
            last_counted = counted;
            stratum = {};
            counted = 0;
        }
        last.all += stratum.all;
        last_counted += counted;
        for (size_t side = 0; side < 2; side++)
            last.of_side[side] += stratum.of_side[side];
        settle();
    }
    return sum;
}

} // namespace auger
