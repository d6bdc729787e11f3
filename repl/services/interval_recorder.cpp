// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/interval_recorder.h"

#include "loader/process/file_series.h"
#include "repl/services/waiting.h"
#include "views/exports/file_sink.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

constexpr const char* prefix = "profile";
constexpr const char* last_link = "last_profile";
// How long names, and events that are late, are waited for once an interval is over.
constexpr uint64_t interval_patience_ns = 5'000'000'000;

std::string extension_of(const ExportFormat& format) {
    return std::string(format.extensions.substr(0, format.extensions.find(' ')));
}

std::vector<std::string> all_extensions() {
    std::vector<std::string> extensions;
    for (const ExportFormat& format : export_formats())
        extensions.push_back(extension_of(format));
    return extensions;
}

Result<void> write_file(const Model& model, const ExportQuery& query, const ExportFormat& format,
                        const std::string& path) {
    auto file = OutputFile::create(path);
    if (!file)
        return file.error();
    OutputFileSink sink(*file);
    if (auto written = format.write(model, query, sink); !written)
        return written.error();
    return file->commit();
}

} // namespace

Result<void> IntervalRecorder::set(const IntervalFiles& files) {
    if (files == files_)
        return {};
    if (!files.folder.empty()) {
        if (auto made = make_folder(files.folder); !made)
            return made;
    }
    const uint64_t now = backend_.now_ns();
    if (active())
        close_interval(now);
    if (!files.folder.empty() && !active())
        utc_offset_ = utc_ns_() - now;
    files_ = files;
    begin_ns_ = now;
    lost_before_ = model_.ledger().lost;
    return {};
}

void IntervalRecorder::close_interval(uint64_t end_ns) {
    over_.push_back({files_, begin_ns_, end_ns, time_stamp(utc_offset_ + begin_ns_), lost_before_});
    begin_ns_ = end_ns;
    lost_before_ = model_.ledger().lost;
}

void IntervalRecorder::work() {
    const uint64_t now = backend_.now_ns();
    while (active() && now >= begin_ns_ + files_.every_ns)
        close_interval(begin_ns_ + files_.every_ns);
    if (task_ && task_->ended())
        collect();
    if (!task_ && !over_.empty() && complete(over_.front()))
        start_writing();
}

bool IntervalRecorder::complete(const Interval& interval) const {
    const bool patient = backend_.now_ns() < interval.end_ns + interval_patience_ns;
    return !patient ||
           (model_.now_ns() > interval.end_ns && backend_.symbol_progress().pending == 0);
}

void IntervalRecorder::start_writing() {
    const Interval& interval = over_.front();
    ExportQuery query;
    // A window has both of its ends.
    query.window = {Window::Kind::last, interval.end_ns - interval.begin_ns - 1, interval.end_ns};
    query.lost_before = interval.lost_before;
    const auto write = [&](int) -> Result<void> {
        const IntervalFiles& files = interval.files;
        const std::string name = fmt::format("{}_{}", prefix, interval.stamp);
        for (const ExportFormat* format : files.formats) {
            const std::string file = name + extension_of(*format);
            if (auto written = write_file(model_, query, *format, files.folder + "/" + file);
                !written)
                return written;
            if (auto linked = replace_link(files.folder, last_link + extension_of(*format), file);
                !linked)
                return linked;
        }
        return remove_old_files(files.folder, prefix, all_extensions(), files.keep);
    };
    auto task = ForkedTask::start("auger-record", write, {.makes_files = true});
    if (task) {
        task_.emplace(std::move(*task));
        return;
    }
    fail(over_.front(), task.error().message());
    over_.pop_front();
}

void IntervalRecorder::fail(const Interval& interval, const std::string& problem) {
    if (failed_++ == 0)
        first_problem_ = problem;
    if (problem != last_problem_)
        problems_.push_back(
            fmt::format("interval {} is not recorded: {}", interval.stamp, problem));
    last_problem_ = problem;
}

Result<void> IntervalRecorder::outcome() const {
    if (failed_ == 0)
        return {};
    return Error{"record", "intervals",
                 fmt::format("{} of {} were not recorded", failed_, failed_ + written_),
                 "the first: " + first_problem_};
}

void IntervalRecorder::collect() {
    auto done = task_->take();
    task_.reset();
    const Interval interval = std::move(over_.front());
    over_.pop_front();
    if (done) {
        written_++;
        last_stamp_ = interval.stamp;
        last_problem_.clear();
        return;
    }
    fail(interval, done.error().message());
}

void IntervalRecorder::add_wake_fds(std::vector<int>& fds) const {
    if (task_)
        fds.push_back(task_->wake_fd());
}

uint64_t IntervalRecorder::due_ns() const {
    uint64_t due = active() ? begin_ns_ + files_.every_ns : UINT64_MAX;
    if (!task_ && !over_.empty())
        due = std::min(due, backend_.now_ns() + retry_interval_ns);
    return due;
}

void IntervalRecorder::finish() {
    if (active() && backend_.now_ns() > begin_ns_)
        close_interval(backend_.now_ns());
    files_ = {};
    while (task_ || !over_.empty()) {
        if (!task_)
            start_writing();
        if (task_)
            collect();
    }
}

} // namespace auger
