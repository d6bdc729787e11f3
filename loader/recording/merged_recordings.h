// SPDX-License-Identifier: GPL-3.0-or-later
// MergedRecordings: one recording, or several as if one auger had watched all their machines: in
// the order of time, by wall clock where the recordings have it, else as if they had begun at once.
// A single one is delivered as it is. Sessions wait in a heap for their turn, each with one file
// open, so that memory is what their present files take, however long they are, and every block of
// events is read once. An event comes as late as its own recording has it, and no later. Changes
// with how machines' times are brought together.
#pragma once

#include "loader/recording/find_recordings.h"
#include "loader/recording/machine_stream.h"
#include "loader/recording/session_recordings.h"

#include <memory>
#include <queue>
#include <span>
#include <string>
#include <vector>

namespace auger {

class MergedRecordings {
  public:
    // Fails when one of them is not a recording, or there is nothing to be read.
    static Result<MergedRecordings> open(std::span<const std::string> paths,
                                         const RecordedSelection& selection = {});

    using State = RecordingReader::State;
    enum class Pass : uint8_t { definitions, events };
    // As RecordingReader::deliver().
    State deliver(EventSink& sink, uint64_t until_ns = UINT64_MAX);
    // Back to the beginning. Definitions first tell what there is, without the events where an
    // index says which are which; ids of probes and functions are then the same again.
    void rewind(Pass pass);

    // What was delivered so far, as SessionRecordings.
    StreamSpan span() const;
    // Of all that are damaged; empty when none is, as far as they were read.
    std::string damage_text() const;
    // What is to be known of what is read: which files of how many, from when to when; empty when
    // it is simply all.
    std::vector<std::string> notes() const;
    // "a.auger and 2 more".
    std::string name() const;
    bool is_part() const { return found_.is_part; }
    uint64_t bytes_read() const; // of files, so far
    // How many locations, stacks, threads and names are remembered, to be told once.
    size_t remembered() const;

  private:
    struct Session {
        std::unique_ptr<SessionRecordings> recordings;
        MachineId machine;
        MachineInfo info{};
        int64_t shift_ns = 0;
        std::unique_ptr<MachineStream> stream{}; // null: delivered as it is
        bool begun = false, ended = false;
    };
    // A session's next event, by the common clock.
    struct Turn {
        uint64_t time_ns;
        size_t session;
        // The earliest is on top; of several, that of the first session.
        bool operator<(const Turn& other) const {
            return std::pair(time_ns, session) > std::pair(other.time_ns, other.session);
        }
    };

    void align();
    void name_machines();
    uint64_t common_time(const Session& session, uint64_t time_ns) const;
    void begin(Session& session);
    State deliver_one(EventSink& sink, uint64_t until_ns);

    FoundRecordings found_;
    std::vector<std::string> paths_;
    std::vector<Session> sessions_;
    std::vector<MachineInfo> machines_; // by id, as they are told
    std::unique_ptr<CommonStream> common_;
    std::priority_queue<Turn> turns_;
    bool told_machines_ = false;
};

} // namespace auger
