// SPDX-License-Identifier: GPL-3.0-or-later
// MergedRecordings: one recording, or several as if one auger had watched all their machines: in
// the order of time, by wall clock where the recordings have it, else as if they had begun at once.
// A single one is delivered as it is.
#pragma once

#include "loader/recording/machine_stream.h"
#include "loader/recording/recording_reader.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace auger {

class MergedRecordings {
  public:
    // Fails when one of them is not a recording, or nothing of it can be read.
    static Result<MergedRecordings> open(std::span<const std::string> paths);

    using State = RecordingReader::State;
    // As RecordingReader::deliver().
    State deliver(EventSink& sink, uint64_t until_ns = UINT64_MAX);
    Result<void> rewind();
    // What was delivered so far.
    StreamSpan span() const;
    // Of all that are damaged; empty when none is, as far as they were read.
    std::string damage_text() const;
    // "a.auger and 2 more".
    std::string name() const;

  private:
    struct Machine {
        std::string path;
        RecordingReader reader;
        MachineInfo info{};
        int64_t shift_ns = 0;
        std::unique_ptr<MachineStream> stream{}; // null: delivered as it is
        bool begun = false, ended = false;
    };

    void align();
    void deliver_next(Machine&, EventSink& sink, uint64_t until_ns);

    std::vector<Machine> machines_;
    std::unique_ptr<CommonStream> common_;
};

} // namespace auger
