// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_explained.h"

#include "loader/stats/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace auger {

namespace {

// Of calls that are told: more say hardly more about their function, and cost.
constexpr uint64_t told_per_second = 1'000;
constexpr uint64_t interval_ns = 1'000'000'000;
constexpr uint64_t first_interval_ns = 200'000'000; // in which all are told

} // namespace

ToldCalls told_calls(const std::map<uint32_t, uint64_t>& buckets, uint64_t wanted) {
    uint64_t all = 0;
    for (const auto& [bucket, calls] : buckets)
        all += calls;
    if (all <= wanted)
        return {};
    uint64_t slow = 0;
    ToldCalls told;
    for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
        if (slow + bucket->second > wanted / 2)
            break;
        slow += bucket->second;
        told.slow_ns = bucket_low(bucket->first) - 1;
    }
    const uint64_t others = wanted - slow;
    told.every = static_cast<uint32_t>(std::min<uint64_t>((all - slow + others - 1) / others,
                                                          std::numeric_limits<uint32_t>::max()));
    return told;
}

Result<void> LiveExplained::number(const ExplainRequest& wanted, uint64_t now_ns) {
    auto numbered = probes_.number_parts(wanted);
    if (!numbered)
        return numbered.error();
    if (numbered->changed) {
        // Calls that began before are not told: their parts were others.
        programs_.config().explained_set = ++set_;
        if (numbered->left_out && numbered->left_out != told_left_out_)
            sink_.on_notice(now_ns,
                            fmt::format("explain: {} functions are told apart, {} more are not; "
                                        "name those that matter: explain ... by ...",
                                        numbered->parts, numbered->left_out));
        told_left_out_ = numbered->left_out;
    }
    return {};
}

Result<void> LiveExplained::set(const ExplainRequest& wanted, uint64_t now_ns) {
    if (auto numbered = number(wanted, now_ns); !numbered)
        return numbered;
    wanted_ = wanted;
    programs_.config().explained_set = ++set_;
    programs_.config().explained_slow_ns = UINT64_MAX;
    programs_.config().explained_every = wanted.active ? 1 : 0;
    buckets_.clear();
    since_ns_ = now_ns;
    return {};
}

void LiveExplained::on_stats(ProbeId probe, const StatsEvent& event) {
    if (!wanted_.active || probe != wanted_.probe)
        return;
    for (const StatsEvent::Bucket& bucket : event.buckets)
        buckets_[bucket.index] += bucket.count;
}

void LiveExplained::update(uint64_t now_ns) {
    if (!wanted_.active)
        return;
    if (auto numbered = number(wanted_, now_ns); !numbered)
        sink_.on_notice(now_ns, numbered.error().message());
    const uint64_t elapsed_ns = now_ns - since_ns_;
    const bool all = programs_.config().explained_every == 1;
    if (elapsed_ns < (all ? first_interval_ns : interval_ns))
        return;
    const ToldCalls told =
        told_calls(buckets_, static_cast<uint64_t>(static_cast<double>(told_per_second) *
                                                   (static_cast<double>(elapsed_ns) / 1e9)));
    programs_.config().explained_slow_ns = told.slow_ns;
    programs_.config().explained_every = told.every;
    buckets_.clear();
    since_ns_ = now_ns;
}

} // namespace auger
