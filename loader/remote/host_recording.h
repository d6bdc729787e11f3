// SPDX-License-Identifier: GPL-3.0-or-later
// HostRecording: the stream of one host as it came, by its own clock: written down as a recording
// of its machine, or its last seconds kept. Recordings of several hosts are read together again by
// --replay. Changes when a host's stream is to be kept in another way.
#pragma once

#include "loader/base/result.h"
#include "loader/recording/recorders.h"
#include "loader/stream/tee.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace auger::remote {

// What is asked for, of all hosts.
struct RecordingWish {
    std::string path; // empty: nothing
    std::chrono::nanoseconds keep{};
    IntervalRecording intervals{};
};

class HostRecording {
  public:
    // `alone`: there is no other host, so it has the path to itself.
    HostRecording(std::string host, bool alone) : host_(std::move(host)), alone_(alone) {}

    // An agent's stream begins, which is to go to `next`, too. `now_ns` is its own time.
    Result<void> begin_agent(const MachineInfo& machine, EventSink& next, const RecordingWish& wish,
                             uint64_t now_ns);
    // Where the stream is to be delivered, until end_agent().
    EventSink& stream() { return *tee_; }
    Result<void> end_agent();

    // While there is an agent; else it begins with the next one.
    Result<void> record(const std::string& path);
    Result<void> finish();
    // As Recorders has it, in a folder of this host's, and again with the next agent.
    Result<void> record_intervals(const IntervalRecording& wanted, uint64_t now_ns);
    IntervalRecordings intervals() const; // of all agents
    void keep_last(std::chrono::nanoseconds span);
    Result<void> write_last(const std::string& path) const;
    std::optional<Error> take_error();
    size_t memory_bytes() const { return recorders_ ? recorders_->memory_bytes() : 0; }

  private:
    std::string own_path(const std::string& path, size_t number) const;

    const std::string host_;
    const bool alone_;
    std::unique_ptr<Tee> tee_;
    std::unique_ptr<Recorders> recorders_;
    std::string path_;         // that was asked for
    size_t number_ = 0;        // of recordings to it
    IntervalRecordings ended_; // of former agents
};

} // namespace auger::remote
