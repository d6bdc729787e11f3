// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/services.h"

#include "loader/base/read_clock.h"
#include "loader/http/confined_poster.h"
#include "repl/services/interval_files.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace auger {
namespace {

uint64_t utc_ns() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
}

void append(std::vector<std::string>& to, std::vector<std::string> lines) {
    std::ranges::move(lines, std::back_inserter(to));
}

} // namespace

Services::Services(Backend& backend, const Model& model, EndpointSource source)
    : backend_(backend), model_(model), sampling_(backend),
      endpoint_(backend, model, sampling_, std::move(source)),
      intervals_(backend, model, utc_ns, {"record", "recorded", "auger-record"}),
      shippers_(backend, model, {utc_ns, [] { return read_clock(CLOCK_MONOTONIC); }},
                ConfinedPoster::open),
      triggers_(backend, model, utc_ns) {}

Result<void> Services::record_intervals(const IntervalFiles& files) {
    const bool exports = !files.folder.empty() && !files.formats.empty();
    const bool recordings = !files.folder.empty() && files.recordings;
    IntervalWriter::Write write;
    if (exports) {
        auto writer = interval_files_writer(model_, files);
        if (!writer)
            return writer.error();
        write = std::move(*writer);
    }
    if (recordings || records_intervals_) {
        const IntervalRecording wanted{files.folder, files.every_ns, files.keep};
        auto begun = backend_.record_intervals(recordings ? wanted : IntervalRecording());
        if (!begun)
            return begun; // those that go on still do
        records_intervals_ = recordings;
    }
    intervals_.set(exports ? files.every_ns : 0, std::move(write));
    return {};
}

std::vector<std::string> Services::work() {
    endpoint_.work();
    intervals_.work();
    shippers_.work();
    triggers_.work();
    return news();
}

std::vector<std::string> Services::finish() {
    intervals_.finish();
    // What failed is part of outcome().
    if (std::exchange(records_intervals_, false))
        (void)backend_.record_intervals({});
    shippers_.finish();
    triggers_.finish();
    return news();
}

Result<void> Services::outcome() const {
    for (const Result<void>& outcome :
         {intervals_.outcome(), recordings_outcome(), shippers_.outcome(), triggers_.outcome()})
        if (!outcome)
            return outcome;
    return {};
}

// Of auger's own recordings of intervals.
Result<void> Services::recordings_outcome() const {
    const IntervalRecordings recordings = backend_.interval_recordings();
    if (recordings.failed == 0)
        return {};
    return Error{"record", "intervals",
                 fmt::format("{} of {} were not recorded", recordings.failed,
                             recordings.failed + recordings.written),
                 "the first: " + recordings.first_problem};
}

std::vector<std::string> Services::news() {
    std::vector<std::string> lines = intervals_.take_problems();
    append(lines, shippers_.take_news());
    append(lines, triggers_.take_news());
    return lines;
}

std::chrono::nanoseconds Services::idle_time(std::chrono::nanoseconds longest) const {
    const uint64_t due =
        std::min({endpoint_.due_ns(), intervals_.due_ns(), shippers_.due_ns(), triggers_.due_ns()});
    const uint64_t now = backend_.now_ns();
    return std::min(shippers_.idle_time(longest),
                    std::chrono::nanoseconds(static_cast<int64_t>(
                        std::min<uint64_t>(due - std::min(due, now), INT64_MAX))));
}

int Services::wake_fd(int fd) {
    std::vector<int> fds;
    endpoint_.add_wake_fds(fds);
    intervals_.add_wake_fds(fds);
    shippers_.add_wake_fds(fds);
    triggers_.add_wake_fds(fds);
    if (fds.empty())
        return fd;
    if (fd >= 0)
        fds.push_back(fd);
    // Made anew each time: descriptors come and go, and this takes some microseconds.
    wake_.reset(epoll_create1(EPOLL_CLOEXEC));
    for (const int one : fds) {
        epoll_event event{};
        event.events = EPOLLIN;
        if (epoll_ctl(wake_.get(), EPOLL_CTL_ADD, one, &event) < 0 && one == fd)
            return fd; // a file, which is always readable
    }
    return wake_.get();
}

void Services::wait(std::chrono::nanoseconds longest, int fd) {
    pollfd wake{wake_fd(fd), POLLIN, 0};
    const auto time = std::chrono::ceil<std::chrono::milliseconds>(idle_time(longest));
    poll(&wake, 1, static_cast<int>(time.count()));
}

} // namespace auger
