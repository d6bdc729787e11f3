// SPDX-License-Identifier: GPL-3.0-or-later
// RecordingSummary: what a first pass over a recording learns, so that a replay can answer from the
// start for what comes later in it.
#pragma once

#include "loader/stream/events.h"

#include <map>
#include <set>
#include <utility>

namespace auger {

// A probe as the whole recording shows it.
struct RecordedProbe {
    ProbeInfo first;             // as it was added
    std::vector<Threshold> slow; // thresholds of slow calls that it ever had, none twice
    std::set<SpecId> specs;      // functions that it ever had
};

class RecordingSummary final : public EventSink {
  public:
    const std::map<ProbeId, RecordedProbe>& probes() const { return probes_; }
    const std::vector<SpecInfo>& specs() const { return specs_; }                   // by id
    const std::map<uint32_t, std::string>& processes() const { return processes_; } // pid, comm
    // Every rate of sampling that was ever asked for; true: waits were sampled too.
    const std::set<std::pair<uint64_t, bool>>& rates() const { return rates_; }

    void on_module(ModuleId, const ModuleInfo&) override {}
    void on_location(LocationId, const Location&) override {}
    void on_frames(LocationId, std::span<const Frame>) override {}
    void on_stack(StackId, std::span<const LocationId>) override {}
    void on_thread(ThreadId, const ThreadInfo&) override;
    void on_spec(SpecId, const SpecInfo& info) override { specs_.push_back(info); }
    void on_probe(const ProbeInfo&) override;
    void on_split(const SplitInfo&) override {}
    void on_only(const OnlyInfo&) override {}
    void on_label(LabelId, const std::string&) override {}
    void on_sample(const SampleEvent&) override {}
    void on_call_end(const CallEndEvent&) override {}
    void on_slow_call(const SlowCallEvent&) override {}
    void on_stats(const StatsEvent&) override {}
    void on_ledger(const LedgerEvent& ledger) override {
        rates_.insert({ledger.rate_hz, ledger.wall});
    }
    void on_notice(uint64_t, const std::string&) override {}
    void on_time(uint64_t) override {}

  private:
    std::map<ProbeId, RecordedProbe> probes_;
    std::vector<SpecInfo> specs_;
    std::map<uint32_t, std::string> processes_;
    std::set<std::pair<uint64_t, bool>> rates_;
};

} // namespace auger
