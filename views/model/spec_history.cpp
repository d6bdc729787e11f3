// SPDX-License-Identifier: GPL-3.0-or-later
// Windows are summed up from differences when asked for, so none of them needs to be chosen before.
#include "views/model/spec_history.h"

#include "loader/base/saturating.h"

#include <algorithm>
#include <span>

namespace auger {

namespace {

using Bucket = StatsEvent::Bucket;

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

void add_span(CallStatistics& sum, const SpanCounts& span, double weight) {
    sum.expired += weight * static_cast<double>(span.expired);
    sum.stray += weight * static_cast<double>(span.stray);
    sum.span.add(times_of(span), weight);
    sum.ambiguous.add(ambiguous_of(span.ambiguous), weight);
}

// Of a StatsEvent, or what is kept of it.
template <typename Counts>
void add_counts(CallStatistics& sum, const Counts& counts, double weight) {
    sum.entries += weight * static_cast<double>(counts.entries);
    sum.returns += weight * static_cast<double>(counts.returns);
    sum.unwound += weight * static_cast<double>(counts.unwound);
    sum.dropped += weight * static_cast<double>(counts.dropped);
    sum.filtered += weight * static_cast<double>(counts.filtered);
    sum.sum_ns += weight * static_cast<double>(counts.sum_ns);
    sum.nested_ns += weight * static_cast<double>(counts.nested_ns);
}

void add_buckets(CallStatistics& sum, std::span<const Bucket> buckets, double weight) {
    for (const Bucket& bucket : buckets)
        sum.durations.add_bucket(bucket.index, weight * static_cast<double>(bucket.count));
}

// Both are ascending by index.
std::vector<Bucket> sum_of(std::span<const Bucket> one, std::span<const Bucket> other) {
    std::vector<Bucket> sum;
    std::ranges::merge(one, other, std::back_inserter(sum), {}, &Bucket::index, &Bucket::index);
    size_t kept = 0;
    for (size_t i = 1; i < sum.size(); i++) {
        if (sum[i].index == sum[kept].index)
            sum[kept].count += sum[i].count;
        else
            sum[++kept] = sum[i];
    }
    sum.resize(std::min(sum.size(), kept + 1));
    return sum;
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

template <typename T>
size_t allocated(const std::vector<T>& all) {
    return all.capacity() * sizeof(T);
}

template <typename T>
void forget_first(std::vector<T>& all, size_t count) {
    all.erase(all.begin(), all.begin() + static_cast<ptrdiff_t>(count));
}

} // namespace

size_t SpecHistory::Differences::bytes() const {
    return all.size() * sizeof(Difference) + buckets.size() * sizeof(Bucket) +
           spans.size() * sizeof(SpanCounts);
}

void SpecHistory::Differences::add(const Difference& difference, std::span<const Bucket> of_it,
                                   const SpanCounts* span) {
    all.push_back(difference);
    all.back().buckets = static_cast<uint32_t>(of_it.size());
    all.back().has_span = span != nullptr;
    buckets.insert(buckets.end(), of_it.begin(), of_it.end());
    if (span)
        spans.push_back(*span);
}

void SpecHistory::add(const StatsEvent& event, size_t bytes) {
    add_counts(totals_, event, 1);
    add_buckets(totals_, event.buckets, 1);
    add_span(totals_, event.span, 1);
    totals_.open = saturating_sum(totals_.open, event.open);
    totals_.is_nested_known = totals_.is_nested_known && event.is_nested_known;
    if (event.max_ns) {
        totals_.min_ns = event.min_ns;
        totals_.max_ns = event.max_ns;
    }
    for (const StatsEvent::MarkCount& count : event.marked)
        marks_.push_back({event.time_ns, count});
    while (marks_.size() > max_marks)
        marks_.pop_front();
    const Difference difference{event.time_ns,  event.time_ns, event.entries,
                                event.returns,  event.unwound, event.dropped,
                                event.filtered, event.sum_ns,  event.nested_ns};
    history_.add(difference, event.buckets, event.span == SpanCounts{} ? nullptr : &event.span);
    if (history_.bytes() <= bytes)
        return;
    if (may_merge_many())
        merge_neighbours();
    // A quarter less, so that this is seldom done.
    if (history_.bytes() > bytes / 4 * 3)
        give_up_oldest(bytes / 4 * 3);
}

// Else what is spared is not worth the work, which is as much as there is.
bool SpecHistory::may_merge_many() const {
    const uint64_t now = history_.all.back().time_ns;
    size_t pairs = 0;
    for (size_t i = 1; i < history_.all.size(); i++)
        pairs += history_.all[i].time_ns - history_.all[i - 1].first_ns <=
                 (now - history_.all[i].time_ns) / resolution;
    return pairs >= history_.all.size() / 8;
}

void SpecHistory::merge_neighbours() {
    const uint64_t now = history_.all.back().time_ns;
    Differences merged;
    std::span<const Bucket> buckets = history_.buckets;
    const SpanCounts* span = history_.spans.data();
    for (auto one = history_.all.begin(); one != history_.all.end();) {
        Difference sum{.first_ns = one->first_ns};
        std::vector<Bucket> of_sum;
        SpanCounts spans;
        do {
            const auto own = buckets.first(one->buckets);
            if (of_sum.empty())
                of_sum.assign(own.begin(), own.end());
            else
                of_sum = sum_of(of_sum, own);
            buckets = buckets.subspan(one->buckets);
            if (one->has_span)
                spans += *span++;
            sum.has_span |= one->has_span;
            sum.time_ns = one->time_ns;
            for (const auto member :
                 {&Difference::entries, &Difference::returns, &Difference::unwound,
                  &Difference::dropped, &Difference::filtered, &Difference::sum_ns,
                  &Difference::nested_ns})
                sum.*member += (*one).*member;
            ++one;
        } while (one != history_.all.end() &&
                 one->time_ns - sum.first_ns <= (now - one->time_ns) / resolution);
        merged.add(sum, of_sum, sum.has_span ? &spans : nullptr);
    }
    history_ = std::move(merged);
}

void SpecHistory::give_up_oldest(size_t bytes) {
    size_t all = 0, buckets = 0, spans = 0, left = history_.bytes();
    for (; all + 1 < history_.all.size() && left > bytes; all++) {
        const Difference& oldest = history_.all[all];
        left -= sizeof oldest + oldest.buckets * sizeof(Bucket) +
                (oldest.has_span ? sizeof(SpanCounts) : 0);
        buckets += oldest.buckets;
        spans += oldest.has_span;
        given_up_until_ns_ = oldest.time_ns;
    }
    forget_first(history_.all, all);
    forget_first(history_.buckets, buckets);
    forget_first(history_.spans, spans);
}

CallStatistics SpecHistory::query(const Window& window, uint64_t now_ns) const {
    if (window == Window{})
        return totals_;
    CallStatistics sum;
    sum.open = totals_.open;
    sum.is_nested_known = totals_.is_nested_known;
    sum.from_ns = window.since(given_up_until_ns_, now_ns);
    std::span<const Bucket> buckets = history_.buckets;
    size_t spans = history_.spans.size();
    for (auto one = history_.all.rbegin(); one != history_.all.rend(); ++one) {
        const std::span<const Bucket> own = buckets.last(one->buckets);
        buckets = buckets.first(buckets.size() - own.size());
        spans -= one->has_span;
        if (window.end_ns && one->time_ns > window.end_ns)
            continue;
        const double weight = window.weight(one->time_ns, now_ns);
        if (weight < 1e-12)
            break; // everything before is older
        add_counts(sum, *one, weight);
        add_buckets(sum, own, weight);
        if (one->has_span)
            add_span(sum, history_.spans[spans], weight);
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

size_t SpecHistory::memory_bytes() const {
    return sizeof *this + allocated(history_.all) + allocated(history_.buckets) +
           allocated(history_.spans) + totals_.durations.end_bucket() * sizeof(double) +
           marks_.size() * sizeof(Marked);
}

} // namespace auger
