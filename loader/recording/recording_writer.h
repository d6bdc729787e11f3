// SPDX-License-Identifier: GPL-3.0-or-later
// RecordingWriter: the event stream into a file (format.h says how it looks). What was written
// stays readable however auger ends: blocks are complete in themselves and are written at least
// once a second of the stream's time. Definitions go into a block before that of the events which
// need them, so that a reader can pass over events; what changes in between (a probe's edit, the
// split, a stack's id that is given anew) ends the block.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/recording/index_builder.h"
#include "loader/recording/record_encoder.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class RecordingWriter final : public EventSink {
  public:
    // Creates the file; see NewFile for what may be replaced. A recording that begins
    // in mid-session is first given DefinitionLog::replay().
    static Result<std::unique_ptr<RecordingWriter>> create(const std::string& path,
                                                           const SeriesInfo& series = {});

    // Writes to an open file; `path` is for messages.
    RecordingWriter(UniqueFd file, std::string path, const SeriesInfo& series = {});
    RecordingWriter(const RecordingWriter&) = delete;
    RecordingWriter& operator=(const RecordingWriter&) = delete;
    ~RecordingWriter() override; // as finish()

    // Events that were encoded elsewhere, as a block of their own: `events` of them, in this time.
    void append_block(std::string_view records, uint64_t events, uint64_t first_ns,
                      uint64_t last_ns);
    // Writes what is held back, the end mark and the index; nothing is accepted afterwards. Fails
    // when this or an earlier write did and take_error() has not said so yet.
    Result<void> finish();

    // The write error, once. After it the file holds everything up to the last whole block, the
    // session goes on, and later events are only counted.
    std::optional<Error> take_error();
    uint64_t lost_events() const { return lost_; } // not in the file because of a write error
    uint64_t events() const { return events_; }    // taken in, less the lost ones
    uint64_t bytes() const { return written_; }    // of the file so far
    const std::string& path() const { return path_; }

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
    bool open() const;
    template <typename Put>
    void define(Put put);
    // What holds from here on, and not of the events before.
    template <typename Put>
    void change(Put put);
    template <typename Put>
    void event(uint64_t time_ns, Put put);
    template <typename Put>
    void timed(uint64_t time_ns, Put put);
    void flush();
    void write_index();
    // Returns how much it took of the file; 0: it is not there.
    uint64_t write_block(std::string_view records);
    void write(std::string_view bytes);
    void fail(Error error);

    UniqueFd file_;
    std::string path_;
    RecordEncoder definitions_, encoder_; // of the blocks that are being filled
    IndexBuilder index_;
    // By id: the block in which a stack or a thread was last named by an event, from 1.
    std::vector<uint32_t> stacks_named_, threads_named_;
    uint32_t block_ = 1;
    std::string frame_; // the block as it goes to the file; kept to reuse its memory
    std::optional<uint64_t> block_start_ns_; // time of the first timed record of the block
    std::optional<Error> error_;             // not reported yet
    bool failed_ = false;
    bool finished_ = false;
    uint64_t written_ = 0;
    uint64_t events_ = 0;
    uint64_t block_events_ = 0; // of events_, in the block not yet written
    uint64_t lost_ = 0;
};

} // namespace auger
