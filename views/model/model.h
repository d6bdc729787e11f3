// SPDX-License-Identifier: GPL-3.0-or-later
// Model: everything that was observed, as views ask for it. It takes the event stream and keeps
// samples, calls and statistics; classes are decided when somebody asks, from the durations that
// are kept with the samples, so an edited threshold re-splits at once all that was collected.
#pragma once

#include "loader/stats/threshold_follower.h"
#include "loader/stream/events.h"
#include "views/model/call_class.h"
#include "views/model/call_table.h"
#include "views/model/explained_calls.h"
#include "views/model/sample_store.h"
#include "views/model/spec_history.h"
#include "views/model/stack_condition.h"
#include "views/model/symbol_tables.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace auger {

struct SlowCall {
    CallEndEvent end;
    uint64_t threshold_ns = 0;
    StackId stack;
    Wait longest_wait;
    std::vector<CallValue> values;
    CallIndex call = no_call; // its record, whose parents are the calls around it
};

// Of the samples of a span of time, how many have left the store for want of room.
struct Evictions {
    uint64_t begin_ns = 0, end_ns = 0; // (begin, end]
    uint64_t samples = 0;
};

// Of the samples of a span of time, how many have come since it began to be watched for them.
struct LateSamples {
    uint64_t begin_ns = 0, end_ns = 0; // (begin, end]
    uint64_t samples = 0;
};

struct Notice {
    uint64_t time_ns = 0;
    std::string text; // raw: escape at output
};

class Model final : public EventSink {
  public:
    static constexpr size_t default_slow_calls = 20'000;
    static constexpr size_t max_notices = 1'000;
    static constexpr size_t default_histories_bytes = size_t{64} << 20;

    explicit Model(size_t sample_capacity = SampleStore::default_capacity,
                   size_t slow_call_capacity = default_slow_calls);

    // Histories of calls, which share so many bytes alike; each has its most_bytes at most.
    void keep_histories_in(size_t bytes) { histories_bytes_ = bytes; }

    void on_machine(MachineId, const MachineInfo&) override;
    void on_module(ModuleId, const ModuleInfo&) override;
    void on_location(LocationId, const Location&) override;
    void on_frames(LocationId, std::span<const Frame>) override;
    void on_stack(StackId, std::span<const LocationId>) override;
    void on_thread(ThreadId, const ThreadInfo&) override;
    void on_spec(SpecId, const SpecInfo&) override;
    void on_exit_changed(SpecId, const ObservedExit&) override;
    void on_probe(const ProbeInfo&) override;
    void on_split(const SplitInfo&) override;
    void on_only(const OnlyInfo&) override;
    void on_label(LabelId, const std::string&) override;
    void on_sample(const SampleEvent&) override;
    void on_call_end(const CallEndEvent&) override;
    void on_slow_call(const SlowCallEvent&) override;
    void on_call_parts(const CallPartsEvent&) override;
    void on_stats(const StatsEvent&) override;
    void on_ledger(const LedgerEvent&) override;
    void on_notice(uint64_t time_ns, const std::string& text) override;
    void on_time(uint64_t time_ns) override;

    // The latest time of any event, ns; `first_ns` the earliest sample's or counter's.
    uint64_t now_ns() const { return now_ns_; }
    uint64_t first_ns() const { return first_ns_; }
    // What the wall clock showed at a moment of the stream, ns since 1970, as far as the stream
    // tells: of a recording, on the day that it was made.
    std::optional<uint64_t> wall_ns(uint64_t time_ns) const;
    // That from this moment on it has another distance from the stream's clock than was told.
    void set_wall_clock(uint64_t since_ns, uint64_t boot_ns);

    // Probes by id, deleted ones included.
    const std::map<ProbeId, ProbeInfo>& probes() const { return probes_; }
    const ProbeInfo* find_probe(ProbeId) const;
    const std::vector<SpecInfo>& specs() const { return specs_; }
    // It is a place that is reached: there are no calls, and no durations.
    bool is_counted(ProbeId) const;
    const SplitInfo& split() const { return split_; }
    const OnlyInfo& only() const { return only_; }
    // What `only` asks of stacks: views leave out what does not fulfil it.
    const StackCondition& kept_stacks() const { return kept_stacks_; }
    void keep_stacks(StackCondition condition) { kept_stacks_ = std::move(condition); }
    // Values that splits are by, raw, by LabelId.
    const std::vector<std::string>& labels() const { return labels_; }
    // Returned calls of the split's probe of which its branch is known.
    MarkCounts branch_counts(const Window& = {}) const;
    // The threshold of the split in force; kind none when there is no split.
    ThresholdState split_state() const;
    // Durations below it cannot be told apart in samples: under twice what a sample costs its
    // thread, the samples themselves make calls look slow, though their cost is taken out.
    uint64_t visible_from_ns() const { return 2 * ledger_.sample_gap_ns; }
    // True when the split's threshold is below that.
    bool split_near_sample_gap() const;
    // Where the probe's durations part first, of what can be seen.
    std::optional<uint64_t> visible_gap(ProbeId) const;
    // The threshold of `slow PROBE > ...`; kind none when it is only timed or unknown.
    ThresholdState slow_state(ProbeId) const;

    // All of the probe's functions together; empty statistics for an unknown probe.
    // With a host: those of its calls only.
    CallStatistics probe_statistics(ProbeId, const Window& = {},
                                    const std::optional<HostChoice>& host = {}) const;
    CallStatistics spec_statistics(SpecId, const Window& = {}) const;
    // Calls of every probe that was ever added.
    CallStatistics all_calls() const;

    const SymbolTables& symbols() const { return symbols_; }
    // For whatever is shown from now on; what is kept stays as it came.
    void set_rules(Rules rules) { symbols_.set_rules(std::move(rules)); }
    const SampleStore& samples() const { return samples_; }
    // For each that comes from now on the oldest goes.
    void keep_no_more_samples() { samples_.keep_no_more(); }
    const CallTable& calls() const { return calls_; }
    // Without a name when it was never told.
    const MachineInfo& machine(MachineId) const;
    size_t machines() const { return machines_.size(); }
    std::optional<MachineId> find_machine(std::string_view name) const;
    // Names that machines have, each once, raw; and all of them, escaped: "web1, web2".
    std::vector<std::string> machine_list() const;
    std::string machine_names() const;
    bool is_on(const HostChoice& host, MachineId machine) const {
        return (this->machine(machine).name == host.name) != host.others;
    }
    // The name of the process that a thread belongs to, raw: its main thread's, as far as known.
    std::string_view process_name(ThreadId) const;
    const std::deque<SlowCall>& slow_calls() const { return slow_calls_; }
    const ExplainedCalls& explained_calls() const { return explained_calls_; }
    const std::deque<Notice>& notices() const { return notices_; }
    const LedgerEvent& ledger() const { return ledger_; }

    uint64_t samples_received() const { return samples_received_; } // = kept + evicted
    uint64_t samples_evicted() const { return samples_received_ - samples_.size(); }
    // Counts from now on, for as long as somebody has it.
    std::shared_ptr<Evictions> count_evictions(uint64_t begin_ns, uint64_t end_ns) const;
    std::shared_ptr<LateSamples> count_late_samples() const;
    uint64_t slow_calls_received() const { return slow_calls_received_; }
    uint64_t notices_received() const { return notices_received_; }
    // Bytes held for samples and their calls.
    size_t memory_bytes() const;
    // For what is held beside: stacks and names, slow calls, durations of calls.
    size_t stacks_bytes() const { return symbols_.memory_bytes(); }
    size_t calls_bytes() const;

  private:
    struct ProbeState {
        ThresholdFollower split; // learns from the first call on, so that a split finds it warm
        std::optional<ThresholdFollower> slow;
    };

    void advance(uint64_t time_ns);
    void evict(const StoredSample&);
    ProbeState& probe_state(ProbeId);

    SymbolTables symbols_;
    std::vector<SpecInfo> specs_;
    std::vector<SpecHistory> histories_;
    size_t histories_bytes_ = default_histories_bytes;
    std::deque<std::pair<uint64_t, uint64_t>> wall_clocks_; // that were set: since when, boot_ns
    std::map<ProbeId, ProbeInfo> probes_;
    std::map<ProbeId, ProbeState> probe_states_;
    SplitInfo split_;
    OnlyInfo only_;
    StackCondition kept_stacks_;
    std::vector<std::string> labels_;

    SampleStore samples_;
    mutable std::vector<std::weak_ptr<Evictions>> evictions_;      // of who counts them
    mutable std::vector<std::weak_ptr<LateSamples>> late_samples_; // likewise
    CallTable calls_;
    std::vector<MachineInfo> machines_;                   // by id
    std::unordered_map<uint64_t, ThreadId> main_threads_; // by process_key, under its last name
    std::deque<SlowCall> slow_calls_;
    ExplainedCalls explained_calls_;
    std::deque<Notice> notices_;
    LedgerEvent ledger_;

    size_t slow_call_capacity_;
    uint64_t samples_received_ = 0;
    uint64_t slow_calls_received_ = 0;
    uint64_t notices_received_ = 0;
    uint64_t now_ns_ = 0;
    uint64_t first_ns_ = 0;
};

} // namespace auger
