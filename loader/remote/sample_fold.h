// SPDX-License-Identifier: GPL-3.0-or-later
// SampleFold: what a relay makes of its hosts' stream, so that less of it has to go on. Samples of
// a second become one where host, process, stack and kind are the same, and the calls around them
// are of the same functions and about as long: then they are in one call of their mean duration, so
// that every threshold at an edge of these durations classes them as before. Their weights are
// added up. Statistics of a second become one, exactly. All else goes on as it comes: what is
// defined, calls that are told one by one, and samples whose call is still open or is more than its
// duration. Changes when other samples are to be told as one.
#pragma once

#include "loader/remote/call_key_hash.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace auger::remote {

class SampleFold final : public EventSink {
  public:
    static constexpr uint64_t interval_ns = 1'000'000'000;
    // Of durations that are about the same: so many in an octave, whose edges are among those of
    // histograms.
    static constexpr uint32_t classes_an_octave = 4;
    static uint32_t duration_class(uint64_t duration_ns);

    explicit SampleFold(EventSink& sink) : sink_(sink) {}

    // Lets go on what is held, up to now.
    void flush();
    uint64_t samples_in() const { return samples_in_; }
    uint64_t samples_out() const { return samples_out_; }

    void on_machine(MachineId id, const MachineInfo& info) override { sink_.on_machine(id, info); }
    void on_module(ModuleId id, const ModuleInfo& info) override { sink_.on_module(id, info); }
    void on_location(LocationId id, const Location& location) override {
        sink_.on_location(id, location);
    }
    void on_frames(LocationId id, std::span<const Frame> frames) override {
        sink_.on_frames(id, frames);
    }
    void on_stack(StackId id, std::span<const LocationId> stack) override {
        sink_.on_stack(id, stack);
    }
    void on_thread(ThreadId id, const ThreadInfo& info) override;
    void on_spec(SpecId id, const SpecInfo& info) override { sink_.on_spec(id, info); }
    void on_probe(const ProbeInfo& info) override { sink_.on_probe(info); }
    void on_split(const SplitInfo& info) override;
    void on_only(const OnlyInfo& info) override;
    void on_label(LabelId id, const std::string& text) override { sink_.on_label(id, text); }
    void on_sample(const SampleEvent&) override;
    void on_call_end(const CallEndEvent&) override;
    void on_slow_call(const SlowCallEvent&) override;
    void on_call_parts(const CallPartsEvent& call) override { sink_.on_call_parts(call); }
    void on_stats(const StatsEvent&) override;
    void on_ledger(const LedgerEvent& ledger) override { ledger_ = ledger; }
    void on_notice(uint64_t time_ns, const std::string& text) override {
        sink_.on_notice(time_ns, text);
    }
    void on_time(uint64_t time_ns) override;

  private:
    struct Sample {
        SampleEvent event; // but for its calls
        std::vector<CallKey> calls;
        uint64_t order = 0; // in which it came
    };
    struct End {
        CallEndEvent event;
        uint64_t order = 0;
    };
    // Samples that are told as one.
    struct Group {
        SampleEvent last;
        std::vector<CallEndEvent> ends; // of the calls around it: sums, then means
        std::vector<CallKey> calls;     // likewise, as they are told
        uint64_t samples = 0;
    };
    struct Told; // an event, and when it is told

    void keep_whole(const CallKey& call);
    bool is_foldable(const Sample& sample) const;
    std::string key_of(const Sample& sample) const;
    void add(const Sample& sample);
    void find_whole_calls();
    void take_means(Group& group);
    void fold();

    EventSink& sink_;
    std::unordered_map<ThreadId, std::pair<MachineId, uint32_t>> processes_; // machine, pid
    std::vector<Sample> samples_;
    std::vector<End> ends_;
    uint64_t order_ = 0;
    std::map<SpecId, StatsEvent> stats_;
    std::optional<LedgerEvent> ledger_;
    // Whose samples have gone on, or are named by what has: their ends do, too.
    std::unordered_set<CallKey, CallKeyHash> whole_;
    std::vector<CallKey> slow_;                              // of these, calls that have ended
    std::unordered_map<CallKey, size_t, CallKeyHash> ended_; // place in ends_, while folding
    std::map<std::string, Group> groups_;                    // likewise
    size_t sampled_calls_ = 0;                               // of all that samples_ name
    bool folds_ = true;                                      // what is asked allows it
    uint32_t sequence_ = 0;                                  // of the calls that stand for several
    uint64_t now_ns_ = 0, folded_ns_ = 0;
    uint64_t samples_in_ = 0, samples_out_ = 0;
};

} // namespace auger::remote
