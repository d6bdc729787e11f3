// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/host_recording.h"

#include "loader/reports/host_report.h"

namespace auger::remote {

// "x.auger" of web1 is "x-web1.auger", and when it was lost and is there again "x-web1-2.auger".
std::string HostRecording::path_of_host(const std::string& path, size_t number) const {
    const size_t name = path.rfind('/') + 1; // 0 when there is none
    size_t dot = path.rfind('.');
    if (dot == std::string::npos || dot <= name)
        dot = path.size();
    return path.substr(0, dot) + (alone_ ? "" : host_suffix(host_)) +
           (number > 1 ? "-" + std::to_string(number) : "") + path.substr(dot);
}

Result<void> HostRecording::begin_agent(const MachineInfo& machine, EventSink& next,
                                        const RecordingWish& wish) {
    tee_ = std::make_unique<Tee>();
    recorders_ = std::make_unique<Recorders>(*tee_);
    tee_->on_machine(MachineId{}, machine);
    tee_->add(next);
    keep_last(wish.keep);
    return wish.path.empty() ? Result<void>() : record(wish.path);
}

Result<void> HostRecording::end_agent() {
    Result<void> finished;
    if (recorders_ && recorders_->recording())
        finished = recorders_->finish();
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
    return recorders_->begin(path_of_host(path, ++number_));
}

Result<void> HostRecording::finish() {
    path_.clear();
    return recorders_ && recorders_->recording() ? recorders_->finish() : Result<void>();
}

void HostRecording::keep_last(std::chrono::nanoseconds span) {
    if (recorders_)
        recorders_->keep_last(span);
}

Result<void> HostRecording::write_last(const std::string& path) const {
    return recorders_ ? recorders_->write_last(path_of_host(path, 1)) : Result<void>();
}

std::optional<Error> HostRecording::take_error() {
    return recorders_ ? recorders_->take_error() : std::nullopt;
}

} // namespace auger::remote
