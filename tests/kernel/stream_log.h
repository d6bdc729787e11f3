// SPDX-License-Identifier: GPL-3.0-or-later
// StreamLog: what the stream said of calls, kept for tests to look at.
#pragma once

#include "loader/stream/events.h"

#include <map>
#include <string>
#include <vector>

namespace auger::test {

class StreamLog : public EventSink {
  public:
    struct SlowCall {
        CallEndEvent end;
        std::map<std::string, CallValue> values; // by name
        std::vector<CallKey> enclosing;
    };
    struct Marked {
        uint64_t taken = 0;
        uint64_t not_taken = 0;
    };

    std::vector<SlowCall> slow_calls;
    std::vector<CallEndEvent> ends;
    std::vector<SampleEvent> samples; // without their calls
    std::vector<std::string> labels;
    std::map<uint32_t, Marked> marked; // by bit
    std::vector<StatsEvent> stats;
    uint64_t filtered = 0;
    SplitInfo split;
    OnlyInfo only;

    std::string value(const SlowCall& call, const std::string& name) const {
        auto found = call.values.find(name);
        return found == call.values.end() ? "none" : found->second.text;
    }

    void on_module(ModuleId, const ModuleInfo&) override {}
    void on_location(LocationId, const Location&) override {}
    void on_frames(LocationId, std::span<const Frame>) override {}
    void on_stack(StackId, std::span<const LocationId>) override {}
    void on_thread(ThreadId, const ThreadInfo&) override {}
    void on_spec(SpecId, const SpecInfo&) override {}
    void on_probe(const ProbeInfo&) override {}
    void on_split(const SplitInfo& info) override { split = info; }
    void on_only(const OnlyInfo& info) override { only = info; }
    void on_label(LabelId id, const std::string& text) override {
        labels.resize(id.index() + 1);
        labels[id.index()] = text;
    }
    void on_sample(const SampleEvent& event) override {
        samples.push_back(event);
        samples.back().calls = {};
    }
    void on_call_end(const CallEndEvent& event) override { ends.push_back(event); }
    void on_slow_call(const SlowCallEvent& event) override {
        SlowCall call{event.end, {}, {event.enclosing.begin(), event.enclosing.end()}};
        for (const CallValue& value : event.values)
            call.values[value.name] = value;
        slow_calls.push_back(std::move(call));
    }
    void on_stats(const StatsEvent& event) override {
        stats.push_back(event);
        filtered += event.filtered;
        for (const StatsEvent::MarkCount& count : event.marked) {
            marked[count.bit].taken += count.taken;
            marked[count.bit].not_taken += count.not_taken;
        }
    }
    void on_ledger(const LedgerEvent&) override {}
    void on_notice(uint64_t, const std::string&) override {}
    void on_time(uint64_t) override {}
};

} // namespace auger::test
