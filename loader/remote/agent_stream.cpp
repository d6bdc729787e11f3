// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/agent_stream.h"

#include <algorithm>
#include <utility>

namespace auger::remote {

namespace {

// Far more than may be open: ends that were lost leave theirs behind.
constexpr size_t most_sampled_calls = 1 << 18;

} // namespace

void add_stats(StatsEvent& sum, const StatsEvent& later) {
    sum.time_ns = later.time_ns;
    sum.spec = later.spec;
    for (const auto member :
         {&StatsEvent::entries, &StatsEvent::returns, &StatsEvent::unwound, &StatsEvent::dropped,
          &StatsEvent::sum_ns, &StatsEvent::filtered, &StatsEvent::nested_ns})
        sum.*member += later.*member;
    sum.open += later.open;
    sum.is_nested_known = sum.is_nested_known && later.is_nested_known;
    if (later.max_ns) { // of all so far; that calls were dropped says nothing of them
        sum.min_ns = later.min_ns;
        sum.max_ns = later.max_ns;
    }
    std::map<uint32_t, uint64_t> buckets;
    for (const StatsEvent* stats : {&std::as_const(sum), &later})
        for (const StatsEvent::Bucket& bucket : stats->buckets)
            buckets[bucket.index] += bucket.count;
    sum.buckets.clear();
    for (const auto& [index, count] : buckets)
        sum.buckets.push_back({index, count});
    std::map<uint32_t, StatsEvent::MarkCount> marked;
    for (const StatsEvent* stats : {&std::as_const(sum), &later})
        for (const StatsEvent::MarkCount& count : stats->marked) {
            StatsEvent::MarkCount& all =
                marked.try_emplace(count.bit, StatsEvent::MarkCount{count.bit, 0, 0}).first->second;
            all.taken += count.taken;
            all.not_taken += count.not_taken;
        }
    sum.marked.clear();
    for (const auto& [bit, count] : marked)
        sum.marked.push_back(count);
    sum.span += later.span;
}

Block AgentStream::end_block() {
    Block block{until_ns_, encoder_.bytes(), std::exchange(origins_, {})};
    encoder_.clear();
    return block;
}

// More of before may follow: it is whole until what was told last.
void AgentStream::end_long_block() {
    if (encoder_.bytes().size() >= longest_block)
        long_blocks_.push_back(end_block());
}

std::optional<Block> AgentStream::take_block() {
    if (!long_blocks_.empty()) {
        Block block = std::move(long_blocks_.front());
        long_blocks_.pop_front();
        return block;
    }
    if (!crowded_()) {
        for (const auto& [spec, stats] : held_stats_)
            encoder_.on_stats(stats);
        held_stats_.clear();
        if (held_ledger_)
            encoder_.on_ledger(*held_ledger_);
        held_ledger_.reset();
    } else if (encoder_.bytes().empty()) {
        return std::nullopt;
    }
    if (encoder_.bytes().empty() && !time_passed_)
        return std::nullopt;
    if (time_passed_)
        encoder_.on_time(until_ns_);
    time_passed_ = false;
    return end_block();
}

void AgentStream::on_sample(const SampleEvent& sample) {
    if (crowded_()) {
        lost_samples_ += sample.stands_for;
        return;
    }
    if (sampled_calls_.size() > most_sampled_calls)
        sampled_calls_.clear();
    for (const CallKey& call : sample.calls)
        sampled_calls_.insert(call);
    encoder_.on_sample(sample);
    end_long_block();
}

void AgentStream::on_call_end(const CallEndEvent& end) {
    if (sampled_calls_.erase(end.call) > 0 || !crowded_())
        encoder_.on_call_end(end);
    end_long_block();
}

void AgentStream::on_slow_call(const SlowCallEvent& call) {
    if (crowded_())
        lost_calls_++;
    else
        encoder_.on_slow_call(call);
    end_long_block();
}

void AgentStream::on_call_parts(const CallPartsEvent& call) {
    if (crowded_())
        lost_calls_++;
    else
        encoder_.on_call_parts(call);
    end_long_block();
}

void AgentStream::on_stats(const StatsEvent& stats) {
    if (crowded_() || held_stats_.contains(stats.spec))
        add_stats(held_stats_[stats.spec], stats);
    else
        encoder_.on_stats(stats);
    end_long_block();
}

void AgentStream::on_ledger(const LedgerEvent& ledger) {
    LedgerEvent told = ledger;
    // A relay's hosts may have dropped some, too.
    told.lost[lost_on_the_way] += lost_samples_;
    told.lost[lost_calls_on_the_way] += lost_calls_;
    if (crowded_())
        held_ledger_ = std::move(told);
    else
        encoder_.on_ledger(told);
}

void AgentStream::on_time(uint64_t time_ns) {
    until_ns_ = std::max(until_ns_, time_ns);
    time_passed_ = true;
}

} // namespace auger::remote
