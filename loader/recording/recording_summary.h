// SPDX-License-Identifier: GPL-3.0-or-later
// RecordingSummary: what a first pass over a recording learns, so that a replay can answer from the
// start for what comes later in it.
#pragma once

#include "loader/stream/events.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace auger {

// A probe as the whole recording shows it.
struct RecordedProbe {
    ProbeInfo first;                        // as it was added
    std::vector<Threshold> slow;            // thresholds of slow calls that it ever had, none twice
    std::set<SpecId> specs;                 // functions that it ever had
    std::vector<CallConditions> conditions; // that its calls ever were under, none twice
};

// What was known of calls between two times: a mark, or the value of an expression.
struct RecordedFact {
    std::optional<ProbeId> probe; // of whose calls; nothing: of every timed one
    MarkInfo mark;                // text: "at main.cc:1290", "if ..."; of a value the expression
};

class RecordingSummary final : public EventSink {
  public:
    const std::map<ProbeId, RecordedProbe>& probes() const { return probes_; }
    const std::vector<SpecInfo>& specs() const { return specs_; } // by id
    using Process = std::pair<MachineId, uint32_t>;               // the latter: its pid
    const std::map<Process, std::string>& processes() const { return processes_; } // comm
    // By id; of old recordings there may be none.
    const std::vector<MachineInfo>& machines() const { return machines_; }
    const std::vector<RecordedFact>& marks() const { return marks_; }
    const std::vector<RecordedFact>& labels() const { return labels_; }
    const std::vector<Gate>& gates() const { return gates_; } // of `only`, with recorded ids
    // Every rate of sampling that was ever asked for; true: waits were sampled too.
    const std::set<std::pair<uint64_t, bool>>& rates() const { return rates_; }

    void on_machine(MachineId, const MachineInfo& info) override { machines_.push_back(info); }
    void on_module(ModuleId, const ModuleInfo&) override {}
    void on_location(LocationId, const Location&) override {}
    void on_frames(LocationId, std::span<const Frame>) override {}
    void on_stack(StackId, std::span<const LocationId>) override {}
    void on_thread(ThreadId, const ThreadInfo&) override;
    void on_spec(SpecId, const SpecInfo& info) override { specs_.push_back(info); }
    void on_probe(const ProbeInfo&) override;
    void on_split(const SplitInfo&) override;
    void on_only(const OnlyInfo&) override;
    void on_label(LabelId, const std::string&) override {}
    void on_sample(const SampleEvent&) override {}
    void on_call_end(const CallEndEvent&) override {}
    void on_slow_call(const SlowCallEvent&) override {}
    void on_call_parts(const CallPartsEvent&) override {}
    void on_stats(const StatsEvent& stats) override { now_ns_ = std::max(now_ns_, stats.time_ns); }
    void on_ledger(const LedgerEvent& ledger) override {
        now_ns_ = std::max(now_ns_, ledger.time_ns);
        rates_.insert({ledger.rate_hz, ledger.wall});
    }
    void on_notice(uint64_t, const std::string&) override {}
    void on_time(uint64_t time_ns) override { now_ns_ = std::max(now_ns_, time_ns); }

  private:
    void watch(std::vector<RecordedFact>& facts, const RecordedFact& fact);
    void end(std::vector<RecordedFact>& facts, const std::vector<RecordedFact>& still);

    std::vector<RecordedFact> marks_, labels_;
    std::vector<RecordedFact> split_marks_, only_marks_; // in force
    std::vector<Gate> gates_;
    uint64_t now_ns_ = 0;
    std::map<ProbeId, RecordedProbe> probes_;
    std::vector<SpecInfo> specs_;
    std::map<Process, std::string> processes_;
    std::vector<MachineInfo> machines_;
    std::set<std::pair<uint64_t, bool>> rates_;
};

} // namespace auger
