// SPDX-License-Identifier: GPL-3.0-or-later
// IndexBuilder: makes a recording's index of the events that go into its blocks; for who writes
// one, and for who reads one that has none. Changes with RecordingIndex.
#pragma once

#include "loader/recording/recording_index.h"
#include "loader/stream/quiet_sink.h"

#include <map>
#include <set>

namespace auger {

class IndexBuilder final : public QuietSink {
  public:
    explicit IndexBuilder(const SeriesInfo& series = {}) { index_.series = series; }

    // A block of what `holds` says; its events were told since the last one that has any.
    void end_block(RecordingIndex::Holds holds, uint64_t size);
    // One that has all that was told since the last one.
    void end_block(uint64_t size);
    void set_series(const SeriesInfo& series) { index_.series = series; }
    // One that holds events which were not told.
    void add_block(uint64_t size, uint64_t first_ns, uint64_t last_ns);
    // What was told since the last block is in none.
    void drop_block() { timed_ = false; }
    RecordingIndex finish(uint64_t events) const;
    const RecordingIndex& so_far() const { return index_; }

    void on_machine(MachineId, const MachineInfo& info) override {
        defined_ = true;
        index_.machine = info;
    }
    void on_module(ModuleId, const ModuleInfo&) override { defined_ = true; }
    void on_location(LocationId, const Location&) override { defined_ = true; }
    void on_frames(LocationId, std::span<const Frame>) override { defined_ = true; }
    void on_stack(StackId, std::span<const LocationId>) override { defined_ = true; }
    void on_thread(ThreadId, const ThreadInfo&) override { defined_ = true; }
    void on_split(const SplitInfo&) override { defined_ = true; }
    void on_only(const OnlyInfo&) override { defined_ = true; }
    void on_label(LabelId, const std::string&) override { defined_ = true; }
    void on_spec(SpecId, const SpecInfo& info) override {
        defined_ = true;
        spec_probes_.push_back(info.probe);
    }
    void on_probe(const ProbeInfo& info) override {
        defined_ = true;
        probe_texts_[info.id] = info.text;
    }
    void on_sample(const SampleEvent&) override;
    void on_call_end(const CallEndEvent& end) override { happened(end.time_ns, end.call.spec); }
    void on_slow_call(const SlowCallEvent& call) override {
        happened(call.end.time_ns, call.end.call.spec);
    }
    void on_call_parts(const CallPartsEvent& call) override {
        happened(call.end.time_ns, call.end.call.spec);
    }
    void on_stats(const StatsEvent&) override;
    void on_ledger(const LedgerEvent& ledger) override {
        seen(ledger.time_ns);
        if (index_.rates.size() < RecordingIndex::most_rates)
            index_.rates.insert({ledger.rate_hz, ledger.wall});
    }
    void on_notice(uint64_t time_ns, const std::string&) override { seen(time_ns); }
    void on_time(uint64_t time_ns) override { seen(time_ns); }

  private:
    void seen(uint64_t time_ns);
    void happened(uint64_t time_ns, SpecId spec) {
        seen(time_ns);
        happened_to(spec);
    }
    void happened_to(SpecId spec) {
        if (spec.index() < spec_probes_.size())
            probes_.insert(spec_probes_[spec.index()]);
    }

    RecordingIndex index_;
    std::vector<ProbeId> spec_probes_; // by SpecId
    std::map<ProbeId, std::string> probe_texts_;
    std::set<ProbeId> probes_; // something happened to
    bool all_probes_ = false;  // may have happened to any
    bool defined_ = false;     // something, in the block that is being filled
    bool timed_ = false;       // something was told of the block that is being filled
    uint64_t first_ns_ = 0, last_ns_ = 0;
};

} // namespace auger
