// SPDX-License-Identifier: GPL-3.0-or-later
// RecordingReader: a recording back into the event stream. Nothing in the file is believed: every
// length, count and id is checked, and reading ends at the first thing that is wrong. With its
// index events of other times than those that are wanted are passed over. Changes with how records
// become events; the file is RecordingFile's.
#pragma once

#include "loader/base/result.h"
#include "loader/recording/record_decoder.h"
#include "loader/recording/recording_file.h"
#include "loader/recording/time_range.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <optional>
#include <string>

namespace auger {

class RecordingReader {
  public:
    // As RecordingFile::open().
    static Result<RecordingReader> open(const std::string& path);

    // Why reading ended before the recording did.
    struct Damage {
        uint64_t offset = 0; // in the file, of the block that could not be read to its end
        std::string problem; // "the file ends inside a block" ...
    };

    // Looks for the index. Why there is none, or nothing: then all is read.
    std::optional<std::string> load_index();
    // Null: none was found.
    const RecordingIndex* index() const { return index_ ? &*index_ : nullptr; }
    // One that was made of the same file by reading it.
    void use_index(RecordingIndex index) { index_ = std::move(index); }
    // Blocks whose events are all outside of this time, in the recording's own, are not read; of
    // those that are read, all is delivered. Before deliver().
    void select(const TimeRange& range) { range_ = range; }
    // Definitions only, and how time passes between them: with an index, no events are read.
    void survey(bool on) { surveying_ = on; }

    enum class State { more, end };
    // Delivers the records up to the first one later than `until_ns`, or to the end or damage.
    State deliver(EventSink& sink, uint64_t until_ns = UINT64_MAX);
    // Of the next record, where there are more.
    uint64_t next_ns() const { return waits_for_ns_ ? waits_for_ns_ : decoder_.next_ns(); }

    // Back to the beginning of the same open file, whatever its name stands for now.
    void rewind();

    // What was delivered so far.
    const StreamSpan& span() const { return decoder_.span(); }
    const SeriesInfo& series() const { return decoder_.series(); }
    const std::optional<Damage>& damage() const { return damage_; }
    // "recording x.rec: a block's checksum does not match (at byte 4711); 12.300 s with 4567 events
    // were read"; empty when there was no damage.
    std::string damage_text() const;

    const std::string& path() const { return file_.path(); }
    uint64_t bytes_read() const { return file_.bytes_read(); }
    // The block that is being read, in the file.
    uint64_t block_offset() const { return block_offset_; }

  private:
    explicit RecordingReader(RecordingFile file);

    // Its own deliver().
    State survey_definitions(EventSink& sink, uint64_t until_ns);
    void tell_rates(EventSink& sink) const;
    bool next_block();
    bool is_wanted(const RecordingIndex::Block& block) const;
    // What of the index is next, or nothing: what is left is not wanted.
    const RecordingIndex::Block* next_wanted(bool definitions_only);
    bool read_block();
    bool index_was_right() const;
    void distrust_index();
    void check_end();
    bool damaged(std::string problem); // the first one stays

    RecordingFile file_;
    std::string block_;
    RecordDecoder decoder_;
    std::optional<RecordingIndex> index_;
    TimeRange range_;
    bool surveying_ = false;
    uint64_t passed_ns_ = 0; // told while surveying
    uint64_t waits_for_ns_ =
        0; // when the next definitions come, while surveying; 0: they are there
    size_t next_in_index_ = 0, end_in_index_ = 0;    // the latter: behind the last wanted block
    const RecordingIndex::Block* indexed_ = nullptr; // what the index says of the present block
    uint64_t offset_ = 0;                            // of the next block
    uint64_t block_offset_ = 0;                      // of the present one
    bool begun_ = false, ended_ = false;
    std::optional<Damage> damage_;
};

} // namespace auger
