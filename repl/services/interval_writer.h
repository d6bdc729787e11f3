// SPDX-License-Identifier: GPL-3.0-or-later
// IntervalWriter: the clock of what is written of each interval. Intervals follow each other
// without a gap: a sample belongs to the one in which it ended. Each is written by a forked copy of
// the process, once all that belongs to it has come and has names. In what form, and where it goes,
// is its user's business.
#pragma once

#include "loader/backend.h"
#include "loader/process/forked_task.h"
#include "views/exports/export.h"
#include "views/model/model.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace auger {

// (begin, end]: a window has both of its ends.
inline Window window_between(uint64_t begin_ns, uint64_t end_ns) {
    return {Window::Kind::last, end_ns - begin_ns - 1, end_ns};
}

class IntervalWriter {
  public:
    struct Interval {
        uint64_t begin_ns, end_ns; // (begin, end], in the backend's time
        uint64_t utc_ns;           // when it began, ns since 1970
        ExportQuery query;         // what belongs to it
    };
    // Called before the fork; what it returns is done in the forked copy, and what that puts into
    // its `out` its user gets.
    using Write = std::function<ForkedTask::Work(const Interval&)>;
    using Written = std::function<void(const Interval&, UniqueFd out)>;
    struct Words { // of what is said
        const char* command;
        const char* done; // "recorded"
        const char* process;
    };

    // `utc_ns`: ns since 1970, for names of files.
    IntervalWriter(const Backend& backend, const Model& model, std::function<uint64_t()> utc_ns,
                   const Words& words)
        : backend_(backend), model_(model), utc_ns_(std::move(utc_ns)), words_(words) {}

    // From now on; 0: no longer. The interval so far is written as it was to be.
    void set(uint64_t every_ns, Write write = {});
    // Who gets what was written.
    void on_written(Written written) { on_written_ = std::move(written); }
    bool active() const { return every_ns_ != 0; }

    void work();
    void add_wake_fds(std::vector<int>& fds) const;
    uint64_t due_ns() const; // in the backend's time
    // Writes the interval so far, and waits until all is written.
    void finish();

    uint64_t written() const { return written_; } // intervals
    // Whether all that were to be written were.
    Result<void> outcome() const;
    // Samples that came when their interval had been written.
    uint64_t late_samples() const { return late_ ? late_->samples : 0; }
    // Intervals that were not written.
    uint64_t failed() const { return failed_; }
    const std::string& last_stamp() const { return last_stamp_; }
    // What went wrong since the last call, a line each.
    std::vector<std::string> take_problems() { return std::exchange(problems_, {}); }

  private:
    struct Over {
        Interval interval;
        Write write;
        std::shared_ptr<Evictions> evictions;
    };

    void begin_interval(uint64_t begin_ns);
    void close_interval(uint64_t end_ns);
    bool complete(const Interval& interval) const;
    void start_writing();
    void collect();
    void fail(const Interval& interval, const std::string& problem);

    const Backend& backend_;
    const Model& model_;
    std::function<uint64_t()> utc_ns_;
    const Words words_;
    uint64_t every_ns_ = 0;
    Write write_;
    Written on_written_;
    uint64_t begin_ns_ = 0;                       // of the interval that goes on
    std::map<std::string, uint64_t> lost_before_; // when it began
    std::shared_ptr<Evictions> evictions_;        // of its samples
    std::shared_ptr<LateSamples> late_;           // of all that was written without a pause
    uint64_t utc_offset_ = 0;        // of the backend's time, as it was when that began
    std::deque<Over> over_;          // not written yet
    std::optional<ForkedTask> task_; // writes the first of them
    uint64_t written_ = 0, failed_ = 0;
    std::string last_stamp_;
    std::string last_problem_; // told once, however often it comes
    std::string first_problem_;
    std::vector<std::string> problems_;
};

} // namespace auger
