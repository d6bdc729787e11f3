// SPDX-License-Identifier: GPL-3.0-or-later
// RecordedPart: stands behind the reader of a recording that is part of a session, or of which a
// range of time is wanted, and tells of that part alone: its events, and the account and the
// extremes of durations, which a session counts from its beginning, from the part's. Several files
// of one session are parts of one stream. Changes with what the stream counts as totals.
#pragma once

#include "loader/recording/time_range.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

class RecordedPart final : public EventSink {
  public:
    explicit RecordedPart(const TimeRange& range = {}) : range_(range) {}
    void deliver_to(EventSink& sink) { sink_ = &sink; }

    // Another file of the session follows. `from_middle`: totals in it began before it did.
    void begin_file(bool from_middle);
    // Of events that were told.
    uint64_t events() const { return events_; }

    void on_machine(MachineId id, const MachineInfo& info) override { sink_->on_machine(id, info); }
    void on_module(ModuleId id, const ModuleInfo& info) override { sink_->on_module(id, info); }
    void on_location(LocationId id, const Location& location) override {
        sink_->on_location(id, location);
    }
    void on_frames(LocationId id, std::span<const Frame> frames) override {
        sink_->on_frames(id, frames);
    }
    void on_stack(StackId id, std::span<const LocationId> stack) override {
        sink_->on_stack(id, stack);
    }
    void on_thread(ThreadId id, const ThreadInfo& info) override { sink_->on_thread(id, info); }
    void on_spec(SpecId id, const SpecInfo& info) override { sink_->on_spec(id, info); }
    void on_probe(const ProbeInfo& info) override { sink_->on_probe(info); }
    void on_split(const SplitInfo& info) override { sink_->on_split(info); }
    void on_only(const OnlyInfo& info) override { sink_->on_only(info); }
    void on_label(LabelId id, const std::string& text) override { sink_->on_label(id, text); }
    void on_sample(const SampleEvent& event) override {
        if (take(event.time_ns))
            sink_->on_sample(event);
    }
    void on_call_end(const CallEndEvent& event) override {
        if (take(event.time_ns))
            sink_->on_call_end(event);
    }
    void on_slow_call(const SlowCallEvent& event) override {
        if (take(event.end.time_ns))
            sink_->on_slow_call(event);
    }
    void on_call_parts(const CallPartsEvent& event) override {
        if (take(event.end.time_ns))
            sink_->on_call_parts(event);
    }
    void on_stats(const StatsEvent&) override;
    void on_ledger(const LedgerEvent&) override;
    void on_notice(uint64_t time_ns, const std::string& text) override {
        if (take(time_ns))
            sink_->on_notice(time_ns, text);
    }
    void on_time(uint64_t time_ns) override {
        if (range_.contains(time_ns))
            sink_->on_time(time_ns);
    }

  private:
    // Of a function's calls so far, by the buckets of their durations.
    struct Extremes {
        uint32_t lowest = UINT32_MAX, highest = 0;
    };

    bool take(uint64_t time_ns) {
        const bool taken = range_.contains(time_ns);
        events_ += taken;
        return taken;
    }

    TimeRange range_;
    EventSink* sink_ = nullptr;
    uint64_t events_ = 0;
    bool from_middle_ = false;
    std::optional<LedgerEvent> base_; // totals before the part of this file
    std::optional<LedgerEvent> last_; // told of this file, without `before_`
    LedgerEvent before_;              // told of all files before
    std::vector<Extremes> extremes_;  // by SpecId
    StatsEvent stats_;                // reused
};

} // namespace auger
