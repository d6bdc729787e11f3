// SPDX-License-Identifier: GPL-3.0-or-later
// Tee: one stream to several sinks, in the order in which they were added.
#pragma once

#include "loader/stream/events.h"

#include <algorithm>
#include <vector>

namespace auger {

class Tee final : public EventSink {
  public:
    Tee() = default;
    explicit Tee(EventSink& first) { add(first); }

    void add(EventSink& sink) { sinks_.push_back(&sink); }
    void remove(EventSink& sink) { std::erase(sinks_, &sink); }

    void on_machine(MachineId id, const MachineInfo& info) override {
        each([&](EventSink& sink) { sink.on_machine(id, info); });
    }
    void on_module(ModuleId id, const ModuleInfo& info) override {
        each([&](EventSink& sink) { sink.on_module(id, info); });
    }
    void on_location(LocationId id, const Location& location) override {
        each([&](EventSink& sink) { sink.on_location(id, location); });
    }
    void on_frames(LocationId id, std::span<const Frame> frames) override {
        each([&](EventSink& sink) { sink.on_frames(id, frames); });
    }
    void on_stack(StackId id, std::span<const LocationId> stack) override {
        each([&](EventSink& sink) { sink.on_stack(id, stack); });
    }
    void on_thread(ThreadId id, const ThreadInfo& info) override {
        each([&](EventSink& sink) { sink.on_thread(id, info); });
    }
    void on_spec(SpecId id, const SpecInfo& info) override {
        each([&](EventSink& sink) { sink.on_spec(id, info); });
    }
    void on_exit_changed(SpecId id, const ObservedExit& exit) override {
        each([&](EventSink& sink) { sink.on_exit_changed(id, exit); });
    }
    void on_probe(const ProbeInfo& info) override {
        each([&](EventSink& sink) { sink.on_probe(info); });
    }
    void on_split(const SplitInfo& info) override {
        each([&](EventSink& sink) { sink.on_split(info); });
    }
    void on_only(const OnlyInfo& info) override {
        each([&](EventSink& sink) { sink.on_only(info); });
    }
    void on_label(LabelId id, const std::string& text) override {
        each([&](EventSink& sink) { sink.on_label(id, text); });
    }
    void on_sample(const SampleEvent& event) override {
        each([&](EventSink& sink) { sink.on_sample(event); });
    }
    void on_call_end(const CallEndEvent& event) override {
        each([&](EventSink& sink) { sink.on_call_end(event); });
    }
    void on_slow_call(const SlowCallEvent& event) override {
        each([&](EventSink& sink) { sink.on_slow_call(event); });
    }
    void on_call_parts(const CallPartsEvent& event) override {
        each([&](EventSink& sink) { sink.on_call_parts(event); });
    }
    void on_stats(const StatsEvent& event) override {
        each([&](EventSink& sink) { sink.on_stats(event); });
    }
    void on_ledger(const LedgerEvent& event) override {
        each([&](EventSink& sink) { sink.on_ledger(event); });
    }
    void on_notice(uint64_t time_ns, const std::string& text) override {
        each([&](EventSink& sink) { sink.on_notice(time_ns, text); });
    }
    void on_time(uint64_t time_ns) override {
        each([&](EventSink& sink) { sink.on_time(time_ns); });
    }

  private:
    void each(auto&& deliver) {
        for (EventSink* sink : sinks_)
            deliver(*sink);
    }

    std::vector<EventSink*> sinks_;
};

} // namespace auger
