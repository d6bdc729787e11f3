// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/session_recordings.h"

#include <algorithm>
#include <utility>

namespace auger {
namespace {

void join(StreamSpan& all, const StreamSpan& one) {
    all.events += one.events;
    if (!one.timed)
        return;
    all.first_ns = all.timed ? std::min(all.first_ns, one.first_ns) : one.first_ns;
    all.last_ns = std::max(all.last_ns, one.last_ns);
    all.timed = true;
}

} // namespace

SessionRecordings::SessionRecordings(std::vector<RecordingHead> files, const TimeRange& range)
    : files_(std::move(files)), range_(range) {
    rewind(false);
}

void SessionRecordings::rewind(bool survey) {
    close();
    surveying_ = survey;
    next_ = 0;
    part_ = std::make_unique<RecordedPart>(range_);
    span_ = {};
    damage_.clear();
}

// Null: it cannot be opened any more, which is told.
std::unique_ptr<RecordingReader> SessionRecordings::open(const RecordingHead& head) {
    if (only_) {
        only_->rewind();
        return std::move(only_);
    }
    auto opened = RecordingReader::open(head.path);
    if (!opened) {
        damage_.push_back(opened.error().message());
        return nullptr;
    }
    auto reader = std::make_unique<RecordingReader>(std::move(*opened));
    if (head.made)
        reader->use_index(*head.made);
    else
        (void)reader->load_index(); // without one, all is read
    return reader;
}

bool SessionRecordings::open_next() {
    while (next_ < files_.size()) {
        const RecordingHead& head = files_[next_++];
        reader_ = open(head);
        if (!reader_)
            continue;
        reader_->select(range_);
        reader_->survey(surveying_);
        part_->begin_file(head.series.number > 0 || (head.timed && head.first_ns < range_.from_ns));
        if (begin_file_)
            begin_file_();
        return true;
    }
    return false;
}

void SessionRecordings::close() {
    if (!reader_)
        return;
    join(span_, span_of_file());
    if (std::string damage = reader_->damage_text(); !damage.empty())
        damage_.push_back(std::move(damage));
    if (files_.size() == 1) {
        only_ = std::move(reader_);
        return;
    }
    bytes_read_ += reader_->bytes_read();
    reader_.reset();
}

// Of the one that is open.
StreamSpan SessionRecordings::span_of_file() const {
    const RecordingIndex* index = reader_->index();
    if (!surveying_ || !index)
        return reader_->span();
    return {index->first_ns, index->last_ns, range_.whole() ? index->events : 0, index->timed};
}

SessionRecordings::State SessionRecordings::deliver(EventSink& sink, uint64_t until_ns) {
    part_->deliver_to(sink);
    while (reader_ || open_next()) {
        if (reader_->deliver(*part_, until_ns) == State::more)
            return State::more;
        close();
    }
    return State::end;
}

uint64_t SessionRecordings::next_ns() const {
    if (reader_)
        return reader_->next_ns();
    return next_ < files_.size() ? std::max(files_[next_].first_ns, range_.from_ns) : UINT64_MAX;
}

StreamSpan SessionRecordings::span() const {
    StreamSpan all = span_;
    if (reader_)
        join(all, span_of_file());
    if (!surveying_)
        all.events = part_->events();
    all.timed = all.timed && all.first_ns <= range_.to_ns && all.last_ns >= range_.from_ns;
    if (!all.timed)
        return {0, 0, all.events, false};
    all.first_ns = std::max(all.first_ns, range_.from_ns);
    all.last_ns = std::min(all.last_ns, range_.to_ns);
    return all;
}

std::string SessionRecordings::damage_text() const {
    std::string text;
    const auto add = [&](const std::string& one) {
        if (!one.empty())
            text += (text.empty() ? "" : "; ") + one;
    };
    for (const std::string& one : damage_)
        add(one);
    if (reader_)
        add(reader_->damage_text());
    return text;
}

uint64_t SessionRecordings::bytes_read() const {
    uint64_t bytes = bytes_read_;
    for (const auto* reader : {&reader_, &only_})
        bytes += *reader ? (*reader)->bytes_read() : 0;
    for (const RecordingHead& head : files_)
        bytes += head.bytes_read;
    return bytes;
}

} // namespace auger
