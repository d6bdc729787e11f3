// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/sample_fold.h"

#include "loader/base/bytes.h"
#include "loader/remote/agent_stream.h"
#include "loader/stats/histogram.h"

#include <algorithm>

namespace auger::remote {

namespace {

// Of a second, samples, calls that they name, and ends: beyond it what is held goes on sooner.
constexpr size_t most_folded_at_once = 1 << 18;
// Ends that were lost leave theirs behind.
constexpr size_t most_whole_calls = 1 << 18;
// By thread; of whose process nothing is known, it is one by itself.
constexpr size_t most_known_threads = 1 << 20;

} // namespace

uint32_t SampleFold::duration_class(uint64_t duration_ns) {
    static_assert(buckets_an_octave % classes_an_octave == 0);
    return bucket_of(duration_ns) / (buckets_an_octave / classes_an_octave);
}

void SampleFold::on_thread(ThreadId id, const ThreadInfo& info) {
    if (processes_.size() >= most_known_threads)
        processes_.clear();
    processes_.insert_or_assign(id, std::pair(info.machine, info.pid));
    sink_.on_thread(id, info);
}

// By how long a call has lasted when it is sampled: that is each sample's own.
void SampleFold::on_split(const SplitInfo& info) {
    flush();
    folds_ = !info.active || !info.so_far;
    sink_.on_split(info);
}

// Marks are of what was in force.
void SampleFold::on_only(const OnlyInfo& info) {
    flush();
    sink_.on_only(info);
}

void SampleFold::on_sample(const SampleEvent& event) {
    if (samples_.size() >= most_folded_at_once || sampled_calls_ >= most_folded_at_once)
        fold();
    samples_in_++;
    sampled_calls_ += event.calls.size();
    samples_.push_back({event, {event.calls.begin(), event.calls.end()}, order_++});
    samples_.back().event.calls = {};
}

void SampleFold::on_call_end(const CallEndEvent& end) {
    if (ends_.size() >= most_folded_at_once)
        fold();
    ends_.push_back({end, order_++});
}

void SampleFold::keep_whole(const CallKey& call) {
    if (whole_.size() >= most_whole_calls)
        whole_.clear();
    whole_.insert(call);
}

// It names calls, of which the end has to be known. Its own was told before, if it ever is.
void SampleFold::on_slow_call(const SlowCallEvent& call) {
    if (slow_.size() >= most_folded_at_once)
        fold();
    keep_whole(call.end.call);
    slow_.push_back(call.end.call);
    for (const CallKey& around : call.enclosing)
        keep_whole(around);
    sink_.on_slow_call(call);
}

void SampleFold::on_stats(const StatsEvent& stats) {
    const auto [known, is_first] = stats_.try_emplace(stats.spec, stats);
    if (!is_first)
        add_stats(known->second, stats);
}

void SampleFold::on_time(uint64_t time_ns) {
    now_ns_ = std::max(now_ns_, time_ns);
    if (now_ns_ - folded_ns_ >= interval_ns)
        flush();
}

void SampleFold::flush() {
    fold();
    folded_ns_ = now_ns_;
    sink_.on_time(now_ns_);
}

// All is known of its calls, and all that is known is what they share with those of others.
bool SampleFold::is_foldable(const Sample& sample) const {
    return folds_ && std::ranges::all_of(sample.calls, [&](const CallKey& call) {
               const auto end = ended_.find(call);
               return end != ended_.end() && !whole_.contains(call) && !call.of_no_thread() &&
                      !ends_[end->second].event.filtered;
           });
}

std::string SampleFold::key_of(const Sample& sample) const {
    const SampleEvent& event = sample.event;
    std::string key;
    ByteWriter out(key);
    const auto process = processes_.find(event.thread);
    // 0: it is a thread's number that follows.
    out.varint(process != processes_.end() ? uint64_t{process->second.first.value} + 1 : 0);
    out.varint(process != processes_.end() ? process->second.second : event.thread.value);
    out.varint(event.stack.value);
    out.varint(static_cast<uint64_t>(event.kind));
    for (const CallKey& call : sample.calls) {
        const CallEndEvent& end = ends_[ended_.at(call)].event;
        out.varint(call.spec.value);
        out.varint(duration_class(end.duration_ns));
        out.varint(end.marks);
        out.varint(uint64_t{end.unwound} | uint64_t{end.marks_known} << 1 |
                   uint64_t{end.waits.has_value()} << 2 | uint64_t{end.label.has_value()} << 3);
        if (end.label)
            out.varint(end.label->value);
    }
    return key;
}

void SampleFold::add(const Sample& sample) {
    Group& group = groups_[key_of(sample)];
    const uint64_t weight = group.last.weight_ns;
    group.last = sample.event;
    group.last.weight_ns += weight;
    group.samples++;
    const bool is_first = group.ends.empty();
    for (size_t i = 0; i < sample.calls.size(); i++) {
        const CallEndEvent& end = ends_[ended_.at(sample.calls[i])].event;
        if (is_first) {
            group.ends.push_back(end);
            continue;
        }
        // Sums, and of the last one when it was and who made it.
        CallEndEvent& sum = group.ends[i];
        sum.time_ns = end.time_ns;
        sum.thread = end.thread;
        sum.duration_ns += end.duration_ns;
        sum.parked_ns += end.parked_ns;
        sum.queued_ns += end.queued_ns;
        if (sum.waits && end.waits) {
            sum.waits->blocked_ns += end.waits->blocked_ns;
            sum.waits->runnable_ns += end.waits->runnable_ns;
        }
    }
}

// A call is told as it is or not at all: where one of its samples cannot be folded, none is. That
// leads from call to call, and each is gone through once, however long a chain a host makes up.
void SampleFold::find_whole_calls() {
    for (size_t i = 0; i < ends_.size(); i++)
        ended_.insert_or_assign(ends_[i].event.call, i);
    std::unordered_map<CallKey, std::vector<const Sample*>, CallKeyHash> samples; // by call
    std::vector<const Sample*> whole;                                             // to go through
    for (const Sample& sample : samples_) {
        for (const CallKey& call : sample.calls)
            samples[call].push_back(&sample);
        if (!is_foldable(sample))
            whole.push_back(&sample);
    }
    while (!whole.empty()) {
        const Sample& sample = *whole.back();
        whole.pop_back();
        for (const CallKey& call : sample.calls) {
            if (!whole_.insert(call).second)
                continue;
            const std::vector<const Sample*>& others = samples.at(call);
            whole.insert(whole.end(), others.begin(), others.end());
        }
    }
}

void SampleFold::take_means(Group& group) {
    for (CallEndEvent& end : group.ends) {
        end.duration_ns /= group.samples;
        end.parked_ns /= group.samples;
        end.queued_ns /= group.samples;
        if (end.waits) {
            end.waits->blocked_ns /= group.samples;
            end.waits->runnable_ns /= group.samples;
        }
        end.samples = 1;
        const uint64_t start = end.time_ns - std::min(end.time_ns, end.duration_ns);
        end.call.start_ns = std::min(start, group.last.time_ns);
        end.call.sequence = sequence_++ & ~CallKey::no_thread_bit;
        group.calls.push_back(end.call);
    }
    group.last.stands_for = static_cast<uint32_t>(group.samples);
}

struct SampleFold::Told {
    uint64_t time_ns = 0;
    uint64_t order = 0;
    std::function<void()> tell;
};

void SampleFold::fold() {
    find_whole_calls();
    std::vector<Told> told;
    std::unordered_set<CallKey, CallKeyHash> folded;
    const auto tell_sample = [this](const SampleEvent& sample, const std::vector<CallKey>& calls) {
        SampleEvent event = sample;
        event.calls = calls;
        sink_.on_sample(event);
    };
    for (const Sample& sample : samples_) {
        if (is_foldable(sample)) {
            folded.insert(sample.calls.begin(), sample.calls.end());
            add(sample);
        } else {
            told.push_back({sample.event.time_ns, sample.order,
                            [&] { tell_sample(sample.event, sample.calls); }});
        }
    }
    samples_out_ += told.size() + groups_.size();
    for (const End& end : ends_)
        if (whole_.erase(end.event.call) > 0 || !folded.contains(end.event.call))
            told.push_back({end.event.time_ns, end.order, [&] { sink_.on_call_end(end.event); }});
    // As they came, since an exchange's end is told long after its time, behind samples that name
    // it.
    std::ranges::sort(told, {}, &Told::order);
    for (size_t i = 1; i < told.size(); i++)
        told[i].time_ns = std::max(told[i].time_ns, told[i - 1].time_ns);
    for (auto& [key, group] : groups_) {
        take_means(group);
        told.push_back({group.last.time_ns, 0, [&] { tell_sample(group.last, group.calls); }});
        for (const CallEndEvent& end : group.ends)
            told.push_back({end.time_ns, 0, [&] { sink_.on_call_end(end); }});
    }
    for (const auto& [spec, stats] : stats_)
        told.push_back({stats.time_ns, 0, [&] { sink_.on_stats(stats); }});
    if (ledger_)
        told.push_back({ledger_->time_ns, 0, [&] { sink_.on_ledger(*ledger_); }});
    std::ranges::stable_sort(told, {}, &Told::time_ns);
    for (const Told& one : told)
        one.tell();
    for (const CallKey& call : slow_)
        whole_.erase(call);
    samples_.clear();
    sampled_calls_ = 0;
    ends_.clear();
    slow_.clear();
    stats_.clear();
    ledger_.reset();
    ended_.clear();
    groups_.clear();
    order_ = 0;
    if (whole_.size() >= most_whole_calls)
        whole_.clear();
}

} // namespace auger::remote
