// SPDX-License-Identifier: GPL-3.0-or-later
// Continuous recording: `record DIR every 60s keep N`. Each interval's samples become files of the
// interval's own, in the formats that were asked for, and links to the last of them; files of all
// but the latest N intervals are removed. Intervals follow each other without a gap: a sample
// belongs to the one in which it ended. They are written by a forked copy of the process, once
// all that belongs to them has come and has names.
#pragma once

#include "loader/backend.h"
#include "loader/process/forked_task.h"
#include "repl/services/service_settings.h"
#include "views/model/model.h"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class IntervalRecorder {
  public:
    // `utc_ns`: ns since 1970, for names of files.
    IntervalRecorder(const Backend& backend, const Model& model, std::function<uint64_t()> utc_ns)
        : backend_(backend), model_(model), utc_ns_(std::move(utc_ns)) {}

    // From now on; without a folder: no longer. What the interval so far holds is written.
    Result<void> set(const IntervalFiles& files);
    bool active() const { return !files_.folder.empty(); }

    void work();
    void add_wake_fds(std::vector<int>& fds) const;
    uint64_t due_ns() const; // in the backend's time
    // Writes the interval so far, and waits until all is written.
    void finish();

    uint64_t written() const { return written_; } // intervals
    // Whether all that were to be written were.
    Result<void> outcome() const;
    const std::string& last_stamp() const { return last_stamp_; }
    // What went wrong since the last call, a line each.
    std::vector<std::string> take_problems() { return std::exchange(problems_, {}); }

  private:
    struct Interval {
        IntervalFiles files;
        uint64_t begin_ns, end_ns; // (begin, end]
        std::string stamp;
        std::map<std::string, uint64_t> lost_before; // as in ExportQuery
    };

    void close_interval(uint64_t end_ns);
    bool complete(const Interval& interval) const;
    void start_writing();
    void collect();
    void fail(const Interval& interval, const std::string& problem);

    const Backend& backend_;
    const Model& model_;
    std::function<uint64_t()> utc_ns_;
    IntervalFiles files_;
    uint64_t begin_ns_ = 0;                       // of the interval that goes on
    std::map<std::string, uint64_t> lost_before_; // when it began
    uint64_t utc_offset_ = 0;        // of the backend's time, as it was when recording began
    std::deque<Interval> over_;      // not written yet
    std::optional<ForkedTask> task_; // writes the first of them
    uint64_t written_ = 0, failed_ = 0;
    std::string last_stamp_;
    std::string last_problem_; // told once, however often it comes
    std::string first_problem_;
    std::vector<std::string> problems_;
};

} // namespace auger
