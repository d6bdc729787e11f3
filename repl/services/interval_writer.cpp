// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/interval_writer.h"

#include "loader/process/file_series.h"
#include "repl/services/waiting.h"
#include "repl/services/wall_clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
void IntervalWriter::set(uint64_t every_ns, Write write) {
    const uint64_t now = backend_.now_ns();
    if (!late_ || !active())
        late_ = model_.count_late_samples();
    if (!active())
        utc_offset_ = utc_ns_() - now;
    else if (now > begin_ns_)
        close_interval(now);
    every_ns_ = every_ns;
    write_ = std::move(write);
    begin_interval(now);
}

void IntervalWriter::begin_interval(uint64_t begin_ns) {
    begin_ns_ = begin_ns;
    lost_before_ = model_.ledger().lost;
    evictions_ = active() ? model_.count_evictions(begin_ns, begin_ns + every_ns_) : nullptr;
}

void IntervalWriter::close_interval(uint64_t end_ns) {
    Interval interval{begin_ns_, end_ns, utc_offset_ + begin_ns_, {}};
    interval.query.window = window_between(begin_ns_, end_ns);
    interval.query.lost_before = lost_before_;
    evictions_->end_ns = end_ns;
    over_.push_back({std::move(interval), write_, std::move(evictions_)});
    begin_interval(end_ns);
    // The machine has slept, or its clock was set; a clock that is set back is not followed, since
    // names of files neither repeat nor go back: of many the first by name is removed.
    const uint64_t offset = utc_ns_() - backend_.now_ns();
    if (offset > utc_offset_ && offset - utc_offset_ >= WallClock::least_step_ns)
        utc_offset_ = offset;
}

void IntervalWriter::work() {
    const uint64_t now = backend_.now_ns();
    while (active() && now >= begin_ns_ + every_ns_)
        close_interval(begin_ns_ + every_ns_);
    if (task_ && task_->ended())
        collect();
    if (!task_ && !over_.empty() && complete(over_.front().interval))
        start_writing();
}

bool IntervalWriter::complete(const Interval& interval) const {
    return has_all_before(backend_, model_, interval.end_ns);
}

void IntervalWriter::start_writing() {
    Over& over = over_.front();
    over.interval.query.evicted = over.evictions->samples;
    if (late_->end_ns != over.interval.begin_ns)
        late_->begin_ns = over.interval.begin_ns;
    late_->end_ns = over.interval.end_ns;
    auto task = ForkedTask::start(words_.process, over.write(over.interval), {.makes_files = true});
    if (task) {
        task_.emplace(std::move(*task));
        return;
    }
    fail(over.interval, task.error().message());
    over_.pop_front();
}

void IntervalWriter::fail(const Interval& interval, const std::string& problem) {
    if (failed_++ == 0)
        first_problem_ = problem;
    if (problem != last_problem_)
        problems_.push_back(fmt::format("interval {} is not {}: {}", time_stamp(interval.utc_ns),
                                        words_.done, problem));
    last_problem_ = problem;
}

Result<void> IntervalWriter::outcome() const {
    if (failed_ == 0)
        return {};
    return Error{words_.command, "intervals",
                 fmt::format("{} of {} were not {}", failed_, failed_ + written_, words_.done),
                 "the first: " + first_problem_};
}

void IntervalWriter::collect() {
    auto done = task_->take();
    task_.reset();
    const Interval interval = std::move(over_.front().interval);
    over_.pop_front();
    if (!done)
        return fail(interval, done.error().message());
    written_++;
    last_stamp_ = time_stamp(interval.utc_ns);
    last_problem_.clear();
    if (on_written_)
        on_written_(interval, std::move(*done));
}

void IntervalWriter::add_wake_fds(std::vector<int>& fds) const {
    if (task_)
        fds.push_back(task_->wake_fd());
}

uint64_t IntervalWriter::due_ns() const {
    uint64_t due = active() ? begin_ns_ + every_ns_ : UINT64_MAX;
    if (!task_ && !over_.empty())
        due = std::min(due, backend_.now_ns() + retry_interval_ns);
    return due;
}

void IntervalWriter::finish() {
    if (active() && backend_.now_ns() > begin_ns_)
        close_interval(backend_.now_ns());
    every_ns_ = 0;
    while (task_ || !over_.empty()) {
        if (!task_)
            start_writing();
        if (task_)
            collect();
    }
}

} // namespace auger
