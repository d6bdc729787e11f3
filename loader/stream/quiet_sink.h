// SPDX-License-Identifier: GPL-3.0-or-later
// A sink that nothing reaches: for those who are interested in some of the stream only.
#pragma once

#include "loader/stream/events.h"

namespace auger {

class QuietSink : public EventSink {
  public:
    void on_module(ModuleId, const ModuleInfo&) override {}
    void on_location(LocationId, const Location&) override {}
    void on_frames(LocationId, std::span<const Frame>) override {}
    void on_stack(StackId, std::span<const LocationId>) override {}
    void on_thread(ThreadId, const ThreadInfo&) override {}
    void on_spec(SpecId, const SpecInfo&) override {}
    void on_probe(const ProbeInfo&) override {}
    void on_split(const SplitInfo&) override {}
    void on_only(const OnlyInfo&) override {}
    void on_label(LabelId, const std::string&) override {}
    void on_sample(const SampleEvent&) override {}
    void on_call_end(const CallEndEvent&) override {}
    void on_slow_call(const SlowCallEvent&) override {}
    void on_call_parts(const CallPartsEvent&) override {}
    void on_stats(const StatsEvent&) override {}
    void on_ledger(const LedgerEvent&) override {}
    void on_notice(uint64_t, const std::string&) override {}
    void on_time(uint64_t) override {}
};

} // namespace auger
