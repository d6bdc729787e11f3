// SPDX-License-Identifier: GPL-3.0-or-later
// IntervalRecorder: the stream as recordings that follow each other, one an interval, each of which
// opens by itself. Every event is in exactly one, that of the interval in which it happened, for
// which a recording waits a second when its interval is over, and longer for names; what comes
// later still is in the oldest that is open. Changes with what makes one recording follow the
// other.
#pragma once

#include "loader/base/result.h"
#include "loader/recording/definition_log.h"
#include "loader/recording/needed_definitions.h"
#include "loader/recording/recording_writer.h"
#include "loader/reports/interval_recordings.h"
#include "loader/settings/interval_recording.h"

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace auger {

class IntervalRecorder final : public EventSink {
  public:
    // The first interval begins now. The log is told of everything before this is, and outlives it,
    // as `number` does, which counts the session's recordings.
    static Result<std::unique_ptr<IntervalRecorder>> begin(const IntervalRecording& wanted,
                                                           const DefinitionLog& log,
                                                           uint64_t session, uint64_t& number,
                                                           uint64_t now_ns);

    // Ends the recordings; nothing is accepted afterwards.
    Result<void> finish();
    // What went wrong since the last call, once.
    std::optional<Error> take_error();
    const IntervalRecordings& report() const { return report_; }

    void on_machine(MachineId, const MachineInfo&) override;
    void on_module(ModuleId, const ModuleInfo&) override;
    void on_location(LocationId, const Location&) override {} // defined when they are needed
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
    struct Interval {
        uint64_t begin_ns, end_ns; // [begin, end)
        std::string name;          // of the file
        std::unique_ptr<RecordingWriter> writer;
        std::unique_ptr<NeededDefinitions> sink;
        std::optional<std::string> problem{}; // some of its events are not in it
    };

    IntervalRecorder(const IntervalRecording& wanted, const DefinitionLog& log, uint64_t session,
                     uint64_t& number)
        : wanted_(wanted), log_(log), session_(session), number_(number) {}

    Result<Interval> open(uint64_t begin_ns);
    // To the recording of that time, which is begun if need be; null: there is none.
    EventSink* of(uint64_t time_ns);
    void each(auto&& deliver);
    void follow(uint64_t time_ns);
    void close_what_is_over(uint64_t now_ns);
    void close(Interval& interval);
    void fail(Interval* interval, const Error& error);

    IntervalRecording wanted_;
    const DefinitionLog& log_;
    uint64_t session_;
    uint64_t& number_;               // of the last recording that was begun
    std::deque<Interval> intervals_; // the last one goes on, the others wait for what is late
    uint64_t end_ns_ = 0;            // of the interval that goes on, whether it has a file or not
    bool finished_ = false;
    IntervalRecordings report_;
    std::vector<Error> errors_;
    std::set<std::string> told_; // what went wrong since the last whole recording, each told once
};

} // namespace auger
