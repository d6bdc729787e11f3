// SPDX-License-Identifier: GPL-3.0-or-later
// Windows are summed up from differences when asked for, so none of them needs to be chosen before.
#include "views/model/call_statistics.h"

#include <algorithm>

namespace auger {

namespace {

SpanTimes times_of(const SpanCounts& counts) {
    SpanTimes times{static_cast<double>(counts.attached_ns),
                    static_cast<double>(counts.queued_ns),
                    static_cast<double>(counts.parked_ns),
                    static_cast<double>(counts.watched_ns),
                    static_cast<double>(counts.blocked_ns),
                    static_cast<double>(counts.runnable_ns),
                    {}};
    std::ranges::copy(counts.parked_for_ns, times.parked_for.begin());
    return times;
}

Ambiguous ambiguous_of(const AmbiguousCounts& counts) {
    return {static_cast<double>(counts.early), static_cast<double>(counts.unasked),
            static_cast<double>(counts.tls), static_cast<double>(counts.http2)};
}

void add_event(CallStatistics& sum, const StatsEvent& event, double weight) {
    sum.entries += weight * static_cast<double>(event.entries);
    sum.returns += weight * static_cast<double>(event.returns);
    sum.unwound += weight * static_cast<double>(event.unwound);
    sum.dropped += weight * static_cast<double>(event.dropped);
    sum.filtered += weight * static_cast<double>(event.filtered);
    sum.sum_ns += weight * static_cast<double>(event.sum_ns);
    sum.expired += weight * static_cast<double>(event.span.expired);
    sum.stray += weight * static_cast<double>(event.span.stray);
    sum.span.add(times_of(event.span), weight);
    sum.ambiguous.add(ambiguous_of(event.span.ambiguous), weight);
    for (const StatsEvent::Bucket& bucket : event.buckets)
        sum.durations.add_bucket(bucket.index, weight * static_cast<double>(bucket.count));
}

// The bounds of the buckets in use, no wider than the exact ones of everything.
void bound_by_buckets(CallStatistics& sum, const CallStatistics& totals) {
    sum.min_ns = sum.max_ns = 0;
    bool any = false;
    for (uint32_t i = 0; i < sum.durations.end_bucket(); i++) {
        if (sum.durations.count(i) <= 0)
            continue;
        if (!any)
            sum.min_ns = std::max(bucket_low(i), totals.min_ns);
        any = true;
        sum.max_ns = std::min(bucket_high(i) - 1, totals.max_ns);
    }
}

} // namespace

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
    expired += other.expired;
    stray += other.stray;
    span.add(other.span, 1);
    ambiguous.add(other.ambiguous, 1);
    open += other.open;
    durations.merge(other.durations);
    from_ns = std::max(from_ns, other.from_ns);
}

void SpecHistory::add(const StatsEvent& event) {
    add_event(totals_, event, 1);
    totals_.open += event.open;
    if (event.max_ns) {
        totals_.min_ns = event.min_ns;
        totals_.max_ns = event.max_ns;
    }
    for (const StatsEvent::MarkCount& count : event.marked)
        marks_.push_back({event.time_ns, count});
    while (marks_.size() > max_marks)
        marks_.pop_front();
    history_.push_back(event);
    history_.back().marked.clear();
    history_buckets_ += event.buckets.size() + 1; // an event without buckets takes room, too
    while (history_buckets_ > max_buckets && history_.size() > 1) {
        given_up_until_ns_ = history_.front().time_ns;
        history_buckets_ -= history_.front().buckets.size() + 1;
        history_.pop_front();
    }
}

CallStatistics SpecHistory::query(const Window& window, uint64_t now_ns) const {
    if (window == Window{})
        return totals_;
    CallStatistics sum;
    sum.open = totals_.open;
    sum.from_ns = window.since(given_up_until_ns_, now_ns);
    for (auto event = history_.rbegin(); event != history_.rend(); ++event) {
        if (window.end_ns && event->time_ns > window.end_ns)
            continue;
        double weight = window.weight(event->time_ns, now_ns);
        if (weight < 1e-12)
            break; // everything before is older
        add_event(sum, *event, weight);
    }
    bound_by_buckets(sum, totals_);
    return sum;
}

MarkCounts SpecHistory::marks(uint32_t bit, uint64_t since_ns, const Window& window,
                              uint64_t now_ns) const {
    MarkCounts sum;
    for (auto mark = marks_.rbegin(); mark != marks_.rend() && mark->time_ns > since_ns; ++mark) {
        if (mark->count.bit != bit)
            continue;
        double weight = window.weight(mark->time_ns, now_ns);
        sum.taken += weight * static_cast<double>(mark->count.taken);
        sum.not_taken += weight * static_cast<double>(mark->count.not_taken);
    }
    return sum;
}

} // namespace auger
