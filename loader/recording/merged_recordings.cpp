// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/merged_recordings.h"

#include "loader/process/file_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {
namespace {

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// Files of a session that `record DIR every` began.
bool is_series(const std::vector<RecordingHead>& files) {
    return files.front().series.number > 0;
}

} // namespace

Result<MergedRecordings> MergedRecordings::open(std::span<const std::string> paths,
                                                const RecordedSelection& selection) {
    auto found = find_recordings(paths, selection);
    if (!found)
        return found.error();
    MergedRecordings merged;
    merged.found_ = std::move(*found);
    merged.paths_.assign(paths.begin(), paths.end());
    for (FoundSession& session : merged.found_.sessions) {
        auto& opened = merged.sessions_.emplace_back();
        opened.info = session.files.front().machine;
        opened.info.boot_ns = session.files.front().boot_ns();
        opened.recordings =
            std::make_unique<SessionRecordings>(std::move(session.files), session.range);
    }
    if (merged.sessions_.size() > 1 || merged.sessions_.front().recordings->files().size() > 1) {
        merged.name_machines();
        merged.align();
        merged.common_ = std::make_unique<CommonStream>(merged.sessions_.size());
    }
    for (size_t i = 0; merged.common_ && i < merged.sessions_.size(); i++) {
        Session& session = merged.sessions_[i];
        session.stream = std::make_unique<MachineStream>(*merged.common_, i, session.machine,
                                                         merged.machines_[session.machine.index()],
                                                         session.shift_ns);
        if (merged.machines_.size() == 1)
            session.stream->set_alone();
        session.recordings->on_file([stream = session.stream.get()] { stream->begin_file(); });
    }
    merged.rewind(Pass::events);
    return merged;
}

// Sessions of a machine that was recorded in files of intervals are that one machine's; any other
// recording is one of a machine of its own.
void MergedRecordings::name_machines() {
    std::map<std::string, MachineId> by_name;
    for (Session& session : sessions_) {
        const std::vector<RecordingHead>& files = session.recordings->files();
        auto machine = MachineId{static_cast<uint32_t>(machines_.size())};
        if (session.info.name.empty())
            session.info.name = file_name(files.front().path);
        else if (is_series(files))
            machine = by_name.try_emplace(session.info.name, machine).first->second;
        session.machine = machine;
        if (machine.index() == machines_.size()) {
            machines_.push_back(session.info);
            continue;
        }
        // The one that was booted first gives the common clock.
        uint64_t& boot_ns = machines_[machine.index()].boot_ns;
        boot_ns = std::min(boot_ns ? boot_ns : UINT64_MAX, session.info.boot_ns);
    }
}

// Times are those of the machine that was booted first, so that none is negative.
void MergedRecordings::align() {
    uint64_t first_boot_ns = UINT64_MAX, first_ns = UINT64_MAX;
    for (const Session& session : sessions_)
        if (session.info.boot_ns)
            first_boot_ns = std::min(first_boot_ns, session.info.boot_ns);
    for (Session& session : sessions_) {
        const RecordingHead& head = session.recordings->files().front();
        if (!session.info.boot_ns)
            continue;
        session.shift_ns = static_cast<int64_t>(session.info.boot_ns - first_boot_ns);
        if (head.timed)
            first_ns = std::min(first_ns, head.first_ns + static_cast<uint64_t>(session.shift_ns));
    }
    for (Session& session : sessions_) {
        const RecordingHead& head = session.recordings->files().front();
        if (session.info.boot_ns || !head.timed)
            continue;
        if (first_ns == UINT64_MAX)
            first_ns = head.first_ns;
        session.shift_ns = static_cast<int64_t>(first_ns - head.first_ns);
    }
}

uint64_t MergedRecordings::common_time(const Session& session, uint64_t time_ns) const {
    return session.stream ? session.stream->common_time(time_ns) : time_ns;
}

void MergedRecordings::rewind(Pass pass) {
    if (common_)
        common_->begin_pass();
    turns_ = {};
    for (size_t i = 0; i < sessions_.size(); i++) {
        Session& session = sessions_[i];
        session.recordings->rewind(pass == Pass::definitions);
        session.begun = session.ended = false;
        if (session.stream)
            session.stream->begin_pass();
        turns_.push({common_time(session, session.recordings->next_ns()), i});
    }
    told_machines_ = false;
}

// What was in force in another session of the machine ended with it.
void MergedRecordings::begin(Session& session) {
    if (std::exchange(session.begun, true) || !common_)
        return;
    for (size_t i = 0; i < sessions_.size(); i++)
        if (sessions_[i].ended && sessions_[i].machine == session.machine)
            common_->end_session(i);
}

MergedRecordings::State MergedRecordings::deliver_one(EventSink& sink, uint64_t until_ns) {
    if (sessions_.front().ended)
        return State::end;
    const State state = sessions_.front().recordings->deliver(sink, until_ns);
    sessions_.front().ended = state == State::end;
    return state;
}

MergedRecordings::State MergedRecordings::deliver(EventSink& sink, uint64_t until_ns) {
    if (!common_)
        return deliver_one(sink, until_ns);
    if (!std::exchange(told_machines_, true))
        for (size_t i = 0; i < machines_.size(); i++)
            sink.on_machine(MachineId{static_cast<uint32_t>(i)}, machines_[i]);
    while (!turns_.empty()) {
        const Turn turn = turns_.top();
        if (turn.time_ns > until_ns)
            return State::more;
        turns_.pop();
        // Up to where the next one goes on.
        const uint64_t limit = turns_.empty() ? until_ns : std::min(until_ns, turns_.top().time_ns);
        Session& session = sessions_[turn.session];
        begin(session);
        session.stream->deliver_to(sink);
        // A damaged file's times may not fit the common clock; it goes on nevertheless.
        const uint64_t until =
            std::max(session.stream->own_time(limit), session.recordings->next_ns());
        session.ended = session.recordings->deliver(*session.stream, until) == State::end;
        if (!session.ended)
            turns_.push({common_time(session, session.recordings->next_ns()), turn.session});
    }
    return State::end;
}

StreamSpan MergedRecordings::span() const {
    StreamSpan all;
    for (const Session& session : sessions_) {
        const StreamSpan one = session.recordings->span();
        all.events += one.events;
        if (!one.timed)
            continue;
        const uint64_t first = common_time(session, one.first_ns);
        const uint64_t last = common_time(session, one.last_ns);
        all.first_ns = all.timed ? std::min(all.first_ns, first) : first;
        all.last_ns = std::max(all.last_ns, last);
        all.timed = true;
    }
    return all;
}

std::string MergedRecordings::damage_text() const {
    std::string text;
    const auto add = [&](const std::string& one) {
        if (!one.empty())
            text += (text.empty() ? "" : "; ") + one;
    };
    for (const std::string& problem : found_.problems)
        add(problem);
    for (const Session& session : sessions_)
        add(session.recordings->damage_text());
    return text;
}

std::vector<std::string> MergedRecordings::notes() const {
    std::vector<std::string> notes = found_.notes;
    if (found_.is_part)
        notes.push_back(fmt::format("a part of the recordings: {} of {} files are read",
                                    found_.files - found_.left_out, found_.files));
    return notes;
}

std::string MergedRecordings::name() const {
    if (paths_.size() == 1)
        return paths_.front();
    return fmt::format("{} and {} more", paths_.front(), paths_.size() - 1);
}

size_t MergedRecordings::remembered() const {
    size_t things = 0;
    for (const Session& session : sessions_)
        things += session.stream ? session.stream->remembered() : 0;
    return things;
}

uint64_t MergedRecordings::bytes_read() const {
    uint64_t bytes = found_.bytes_read;
    for (const Session& session : sessions_)
        bytes += session.recordings->bytes_read();
    return bytes;
}

} // namespace auger
