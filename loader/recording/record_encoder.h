// SPDX-License-Identifier: GPL-3.0-or-later
// RecordEncoder: one event of the stream becomes one record (format.h) behind the bytes so far.
#pragma once

#include "loader/base/bytes.h"
#include "loader/recording/format.h"
#include "loader/recording/recording_index.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace auger {

class RecordEncoder final : public EventSink {
  public:
    const std::string& bytes() const { return bytes_; }
    // Forgets the bytes and begins a new block: times are relative within a block only.
    void clear();
    // The end mark, with the number of events before it.
    void put_end(uint64_t events);
    // Of which session the recording is; before all events.
    void put_series(const SeriesInfo& series);

    void on_machine(MachineId, const MachineInfo&) override;
    void on_module(ModuleId, const ModuleInfo&) override;
    void on_location(LocationId, const Location&) override;
    void on_frames(LocationId, std::span<const Frame>) override;
    void on_stack(StackId, std::span<const LocationId>) override;
    void on_thread(ThreadId, const ThreadInfo&) override;
    void on_spec(SpecId, const SpecInfo&) override;
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

  private:
    void put_kind(recording::RecordKind kind);
    void put_timed(recording::RecordKind kind, uint64_t time_ns);
    void put_string(std::string_view text);
    void put_threshold(const Threshold&);
    void put_call(const CallKey&, uint64_t time_ns);
    void put_call_end(const CallEndEvent&);
    void put_conditions(const CallConditions&);
    void put_overhead(const LedgerEvent&);
    void put_clauses(std::span<const Clause>);

    std::string bytes_;
    ByteWriter out_{bytes_};
    uint64_t last_time_ = 0; // of this block
};

} // namespace auger
