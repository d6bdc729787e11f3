// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recorders.h"

#include <cstdint>
#include <utility>

namespace auger {

Recorders::Recorders(Tee& stream) : stream_(stream) {
    stream_.add(definitions_);
}

Recorders::~Recorders() {
    if (flight_)
        stream_.remove(*flight_);
    if (recording_)
        stream_.remove(*recording_);
    stream_.remove(definitions_);
}

Result<void> Recorders::begin(const std::string& path) {
    if (recording_)
        return Error{"record", path, "already recording to " + recording_->path(),
                     "`record off` ends that"};
    auto writer = RecordingWriter::create(path);
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

std::optional<Error> Recorders::take_error() {
    if (!recording_)
        return {};
    return recording_->take_error();
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
    auto writer = RecordingWriter::create(path);
    if (!writer)
        return writer.error();
    definitions_.replay(**writer);
    flight_->write(**writer);
    return (*writer)->finish();
}

} // namespace auger
