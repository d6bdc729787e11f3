// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/call_statistics.h"

#include "loader/base/saturating.h"

#include <algorithm>

namespace auger {

void SpanTimes::add(const SpanTimes& other, double weight) {
    attached += weight * other.attached;
    queued += weight * other.queued;
    parked += weight * other.parked;
    watched += weight * other.watched;
    blocked += weight * other.blocked;
    runnable += weight * other.runnable;
    for (size_t i = 0; i < park_reasons; i++)
        parked_for[i] += weight * other.parked_for[i];
}

void Ambiguous::add(const Ambiguous& other, double weight) {
    early += weight * other.early;
    unasked += weight * other.unasked;
    tls += weight * other.tls;
    http2 += weight * other.http2;
}

double CallStatistics::quantile(double q) const {
    if (durations.total() <= 0)
        return 0;
    double value = durations.quantile(q);
    double low = static_cast<double>(min_ns), high = static_cast<double>(max_ns);
    return low <= high ? std::clamp(value, low, high) : value;
}

void CallStatistics::merge(const CallStatistics& other) {
    if (other.durations.total() > 0) {
        min_ns = durations.total() > 0 ? std::min(min_ns, other.min_ns) : other.min_ns;
        max_ns = std::max(max_ns, other.max_ns);
    }
    entries += other.entries;
    returns += other.returns;
    unwound += other.unwound;
    dropped += other.dropped;
    filtered += other.filtered;
    sum_ns += other.sum_ns;
    nested_ns += other.nested_ns;
    is_nested_known = is_nested_known && other.is_nested_known;
    expired += other.expired;
    stray += other.stray;
    span.add(other.span, 1);
    ambiguous.add(other.ambiguous, 1);
    open = saturating_sum(open, other.open);
    durations.merge(other.durations);
    from_ns = std::max(from_ns, other.from_ns);
}

} // namespace auger
