// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/flight_recorder.h"

#include <algorithm>

namespace auger {

void FlightRecorder::on_time(uint64_t time_ns) {
    encoder_.on_time(time_ns);
    on_recorded(time_ns);
}

void FlightRecorder::on_recorded(uint64_t time_ns) {
    first_ns_ = first_ns_ == 0 ? time_ns : std::min(first_ns_, time_ns);
    last_ns_ = std::max(last_ns_, time_ns);
    if (last_ns_ - first_ns_ < recording::block_ns &&
        encoder_.bytes().size() < recording::block_bytes)
        return;
    bytes_ += encoder_.bytes().size();
    blocks_.push_back({first_ns_, last_ns_, events_, encoder_.bytes()});
    encoder_.clear();
    events_ = first_ns_ = 0;
    while (!blocks_.empty() &&
           (blocks_.front().last_ns + span_ns_ < last_ns_ || bytes_ > most_bytes)) {
        bytes_ -= blocks_.front().records.size();
        blocks_.pop_front();
    }
}

void FlightRecorder::write(RecordingWriter& writer) const {
    for (const Block& block : blocks_)
        writer.append_block(block.records, block.events, block.first_ns, block.last_ns);
    if (!encoder_.bytes().empty())
        writer.append_block(encoder_.bytes(), events_, first_ns_, last_ns_);
}

} // namespace auger
