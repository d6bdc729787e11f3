// SPDX-License-Identifier: GPL-3.0-or-later
// SessionRecordings: the files of one session, one after the other as one stream. One file is open
// at a time, and each is opened when its time comes; one that cannot be is told, and the next one
// follows. A single file stays open, whatever its name stands for later. Changes with how files
// follow each other.
#pragma once

#include "loader/recording/recorded_part.h"
#include "loader/recording/recording_head.h"
#include "loader/recording/recording_reader.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace auger {

class SessionRecordings {
  public:
    // `files`: in the order of time. Of these, and of them, what is in `range`, in their own time.
    SessionRecordings(std::vector<RecordingHead> files, const TimeRange& range);

    // Another file follows: ids of what it defines are its own.
    void on_file(std::function<void()> begin) { begin_file_ = std::move(begin); }

    using State = RecordingReader::State;
    // As RecordingReader::deliver().
    State deliver(EventSink& sink, uint64_t until_ns);
    // Of what comes next, where there is more.
    uint64_t next_ns() const;
    // Back to the beginning: of definitions only, or of all.
    void rewind(bool survey);

    const std::vector<RecordingHead>& files() const { return files_; }
    // What was delivered so far; of definitions only, what there is. Events of a range are not
    // counted before they are delivered.
    StreamSpan span() const;
    std::string damage_text() const;
    uint64_t bytes_read() const;

  private:
    std::unique_ptr<RecordingReader> open(const RecordingHead& head);
    bool open_next();
    void close();
    StreamSpan span_of_file() const;

    std::vector<RecordingHead> files_;
    TimeRange range_;
    std::function<void()> begin_file_;
    bool surveying_ = false;
    size_t next_ = 0;                         // of files_
    std::unique_ptr<RecordingReader> reader_; // null: none is open
    std::unique_ptr<RecordingReader> only_;   // of one file, between two passes
    std::unique_ptr<RecordedPart> part_;
    StreamSpan span_; // of files that were closed, by the reader
    std::vector<std::string> damage_;
    uint64_t bytes_read_ = 0; // of files that were closed, in all passes
};

} // namespace auger
