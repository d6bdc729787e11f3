// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recorded_part.h"

#include "loader/recording/ledger_totals.h"
#include "loader/stats/histogram.h"

#include <algorithm>
#include <utility>

namespace auger {
namespace {

// A damaged recording's totals may fall.
uint64_t less(uint64_t total, uint64_t before) {
    return total - std::min(total, before);
}

void take_away(LedgerEvent& ledger, const LedgerEvent& before) {
    for (const auto total : ledger_totals())
        ledger.*total = less(ledger.*total, before.*total);
    for (auto& [cause, events] : ledger.lost)
        if (const auto known = before.lost.find(cause); known != before.lost.end())
            events = less(events, known->second);
}

} // namespace

void RecordedPart::begin_file(bool from_middle) {
    from_middle_ = from_middle;
    base_.reset();
    if (const auto told = std::exchange(last_, std::nullopt))
        add_totals(before_, *told);
}

void RecordedPart::on_ledger(const LedgerEvent& event) {
    if (event.time_ns < range_.from_ns) {
        base_ = event;
        return;
    }
    if (from_middle_ && !base_)
        base_ = event;
    if (!take(event.time_ns))
        return;
    LedgerEvent told = event;
    if (base_)
        take_away(told, *base_);
    last_ = told;
    add_totals(told, before_);
    sink_->on_ledger(told);
}

void RecordedPart::on_stats(const StatsEvent& event) {
    if (!take(event.time_ns))
        return;
    if (extremes_.size() <= event.spec.index())
        extremes_.resize(event.spec.index() + 1);
    Extremes& extremes = extremes_[event.spec.index()];
    if (!event.buckets.empty()) {
        extremes.lowest = std::min(extremes.lowest, event.buckets.front().index);
        extremes.highest = std::max(extremes.highest, event.buckets.back().index);
    }
    if (!from_middle_ && range_.whole())
        return sink_->on_stats(event);
    stats_ = event;
    if (extremes.lowest == UINT32_MAX) {
        stats_.min_ns = stats_.max_ns = 0; // nothing has returned yet
    } else {
        // To within a bucket, and exactly where the session's is the part's.
        stats_.min_ns = std::max(event.min_ns, bucket_low(extremes.lowest));
        stats_.max_ns = std::min(event.max_ns, bucket_high(extremes.highest) - 1);
    }
    sink_->on_stats(stats_);
}

} // namespace auger
