// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recorders.h"

#include <cstdint>
#include <utility>

namespace auger {

Recorders::Recorders(Tee& stream, uint64_t session) : stream_(stream), session_(session) {
    stream_.add(definitions_);
}

Recorders::~Recorders() {
    if (flight_)
        stream_.remove(*flight_);
    if (recording_)
        stream_.remove(*recording_);
    if (intervals_) {
        stream_.remove(*intervals_);
        (void)intervals_->finish();
    }
    stream_.remove(definitions_);
}

Result<void> Recorders::begin(const std::string& path) {
    if (recording_)
        return Error{"record", path, "already recording to " + recording_->path(),
                     "`record off` ends that"};
    auto writer = RecordingWriter::create(path, SeriesInfo{session_, 0});
    if (!writer)
        return writer.error();
    definitions_.replay(**writer);
    recording_ = std::move(*writer);
    stream_.add(*recording_);
    return {};
}

Result<void> Recorders::finish() {
    if (!recording_)
        return Error{"record", "off", "nothing is being recorded", ""};
    if (auto finished = recording_->finish(); !finished)
        return finished;
    stream_.remove(*recording_);
    recording_.reset();
    return {};
}

Result<void> Recorders::record_intervals(const IntervalRecording& wanted, uint64_t now_ns) {
    std::unique_ptr<IntervalRecorder> next;
    if (!wanted.folder.empty()) {
        auto begun = IntervalRecorder::begin(wanted, definitions_, session_, number_, now_ns);
        if (!begun)
            return begun.error(); // what goes on still does
        next = std::move(*begun);
        stream_.add(*next);
    }
    const std::unique_ptr<IntervalRecorder> former = std::exchange(intervals_, std::move(next));
    if (!former)
        return {};
    stream_.remove(*former);
    auto ended = former->finish();
    ended_ += former->report();
    return ended;
}

IntervalRecordings Recorders::intervals() const {
    IntervalRecordings all = ended_;
    if (intervals_)
        all += intervals_->report();
    return all;
}

std::optional<Error> Recorders::take_error() {
    if (recording_)
        if (auto error = recording_->take_error())
            return error;
    if (intervals_)
        return intervals_->take_error();
    return {};
}

void Recorders::keep_last(std::chrono::nanoseconds span) {
    if (flight_)
        stream_.remove(*flight_);
    flight_.reset();
    if (span > std::chrono::nanoseconds(0)) {
        flight_ = std::make_unique<FlightRecorder>(static_cast<uint64_t>(span.count()));
        stream_.add(*flight_);
    }
}

Result<void> Recorders::write_last(const std::string& path) const {
    if (!flight_)
        return Error{"record", path, "no history is kept", ""};
    auto writer = RecordingWriter::create(path, SeriesInfo{session_, 0});
    if (!writer)
        return writer.error();
    definitions_.replay(**writer);
    flight_->write(**writer);
    return (*writer)->finish();
}

} // namespace auger
