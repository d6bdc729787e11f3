// SPDX-License-Identifier: GPL-3.0-or-later
// Recorders: who writes the stream of a session down: the recording that goes on, those of
// intervals, the memory of the last seconds, and the definitions that all begin with. Changes when
// the stream is to be kept in another way.
#pragma once

#include "loader/base/result.h"
#include "loader/recording/definition_log.h"
#include "loader/recording/flight_recorder.h"
#include "loader/recording/interval_recorder.h"
#include "loader/recording/recording_writer.h"
#include "loader/stream/tee.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace auger {

class Recorders {
  public:
    // Definitions are kept from now on. `stream` outlives the recorders. `session`: a number that
    // no other session has; 0: whatever it records is by itself.
    explicit Recorders(Tee& stream, uint64_t session = 0);
    Recorders(const Recorders&) = delete;
    Recorders& operator=(const Recorders&) = delete;
    ~Recorders(); // a recording that goes on ends, as by finish()

    bool recording() const { return recording_ != nullptr; }
    // Writes the stream from now on. What came before has been delivered.
    Result<void> begin(const std::string& path);
    // Ends the recording. One that is not whole stays until who asked has been told why, and asks
    // again.
    Result<void> finish();
    // The stream as a recording of each interval from now on; an empty folder ends that, and what
    // goes on is written.
    Result<void> record_intervals(const IntervalRecording& wanted, uint64_t now_ns);
    bool recording_intervals() const { return intervals_ != nullptr; }
    IntervalRecordings intervals() const;
    // An error of the recordings, once.
    std::optional<Error> take_error();

    // As Backend has them.
    void keep_last(std::chrono::nanoseconds span);
    Result<void> write_last(const std::string& path) const;

    size_t memory_bytes() const { return definitions_.memory_bytes(); } // of the definitions

  private:
    Tee& stream_;
    uint64_t session_;
    DefinitionLog definitions_;
    std::unique_ptr<RecordingWriter> recording_;
    std::unique_ptr<FlightRecorder> flight_; // of keep_last()
    std::unique_ptr<IntervalRecorder> intervals_;
    uint64_t number_ = 0;      // of the session's last recording of an interval
    IntervalRecordings ended_; // of all that went on before
};

} // namespace auger
