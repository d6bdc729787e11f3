// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/host_recording.h"

#include "loader/base/random_number.h"
#include "loader/process/file_series.h"
#include "loader/reports/host_report.h"

#include <fmt/format.h>

namespace auger::remote {

// When it was lost and is there again, "x-web1,2.auger": no host has a name with a comma, which is
// between names.
std::string HostRecording::own_path(const std::string& path, size_t number) const {
    const std::string own = alone_ ? path : path_of_host(path, host_);
    return number > 1 ? with_suffix(own, fmt::format(",{}", number)) : own;
}

Result<void> HostRecording::begin_agent(const MachineInfo& machine, EventSink& next,
                                        const RecordingWish& wish, uint64_t now_ns) {
    tee_ = std::make_unique<Tee>();
    recorders_ = std::make_unique<Recorders>(*tee_, random_number());
    tee_->on_machine(MachineId{}, machine);
    tee_->add(next);
    keep_last(wish.keep);
    auto begun = wish.path.empty() ? Result<void>() : record(wish.path);
    auto intervals =
        wish.intervals.folder.empty() ? Result<void>() : record_intervals(wish.intervals, now_ns);
    return begun ? intervals : begun;
}

Result<void> HostRecording::end_agent() {
    Result<void> finished;
    if (recorders_ && recorders_->recording())
        finished = recorders_->finish();
    if (recorders_ && recorders_->recording_intervals()) {
        auto ended = recorders_->record_intervals({}, 0);
        if (finished)
            finished = std::move(ended);
    }
    if (recorders_)
        ended_ += recorders_->intervals();
    recorders_.reset();
    tee_.reset();
    return finished;
}

Result<void> HostRecording::record(const std::string& path) {
    if (path != path_)
        number_ = 0;
    path_ = path;
    if (!recorders_)
        return {};
    return recorders_->begin(own_path(path, ++number_));
}

Result<void> HostRecording::finish() {
    path_.clear();
    return recorders_ && recorders_->recording() ? recorders_->finish() : Result<void>();
}

Result<void> HostRecording::record_intervals(const IntervalRecording& wanted, uint64_t now_ns) {
    if (!recorders_)
        return {};
    IntervalRecording of_host = wanted;
    if (!wanted.folder.empty() && !alone_) {
        if (auto made = make_folder(wanted.folder); !made)
            return made;
        of_host.folder += "/" + host_file_name(host_);
    }
    return recorders_->record_intervals(of_host, now_ns);
}

IntervalRecordings HostRecording::intervals() const {
    IntervalRecordings all = ended_;
    if (recorders_)
        all += recorders_->intervals();
    return all;
}

void HostRecording::keep_last(std::chrono::nanoseconds span) {
    if (recorders_)
        recorders_->keep_last(span);
}

Result<void> HostRecording::write_last(const std::string& path) const {
    return recorders_ ? recorders_->write_last(own_path(path, 1)) : Result<void>();
}

std::optional<Error> HostRecording::take_error() {
    return recorders_ ? recorders_->take_error() : std::nullopt;
}

} // namespace auger::remote
