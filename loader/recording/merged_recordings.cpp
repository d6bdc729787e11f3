// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/merged_recordings.h"

#include "loader/stream/quiet_sink.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

// What a first pass learns.
class Survey final : public QuietSink {
  public:
    MachineInfo machine;

    void on_machine(MachineId, const MachineInfo& info) override { machine = info; }
};

// Until the year 2116; a damaged file may say anything.
constexpr uint64_t latest_boot_ns = uint64_t{1} << 62;

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

} // namespace

Result<MergedRecordings> MergedRecordings::open(std::span<const std::string> paths) {
    MergedRecordings merged;
    for (const std::string& path : paths) {
        auto reader = RecordingReader::open(path);
        if (!reader)
            return reader.error();
        merged.machines_.push_back({path, std::move(*reader)});
    }
    if (merged.machines_.size() > 1)
        merged.align();
    if (auto rewound = merged.rewind(); !rewound)
        return rewound.error();
    return merged;
}

// Times are those of the machine that was booted first, so that none is negative.
void MergedRecordings::align() {
    uint64_t first_boot_ns = UINT64_MAX, first_ns = UINT64_MAX;
    for (Machine& machine : machines_) {
        Survey survey;
        machine.reader.deliver(survey);
        machine.info = survey.machine;
        if (machine.info.name.empty())
            machine.info.name = file_name(machine.path);
        if (machine.info.boot_ns > latest_boot_ns)
            machine.info.boot_ns = 0;
        if (machine.info.boot_ns)
            first_boot_ns = std::min(first_boot_ns, machine.info.boot_ns);
    }
    for (Machine& machine : machines_) {
        if (!machine.info.boot_ns)
            continue;
        machine.shift_ns = static_cast<int64_t>(machine.info.boot_ns - first_boot_ns);
        if (machine.reader.span().timed)
            first_ns = std::min(first_ns, machine.reader.span().first_ns +
                                              static_cast<uint64_t>(machine.shift_ns));
    }
    for (Machine& machine : machines_) {
        if (machine.info.boot_ns || !machine.reader.span().timed)
            continue;
        if (first_ns == UINT64_MAX)
            first_ns = machine.reader.span().first_ns;
        machine.shift_ns = static_cast<int64_t>(first_ns - machine.reader.span().first_ns);
    }
}

Result<void> MergedRecordings::rewind() {
    common_ = std::make_unique<CommonStream>(machines_.size());
    uint32_t number = 0;
    for (Machine& machine : machines_) {
        if (auto rewound = machine.reader.rewind(); !rewound)
            return rewound;
        machine.begun = machine.ended = false;
        if (machines_.size() > 1)
            machine.stream = std::make_unique<MachineStream>(*common_, MachineId{number++},
                                                             machine.info, machine.shift_ns);
    }
    return {};
}

void MergedRecordings::deliver_next(Machine& machine, EventSink& sink, uint64_t until_ns) {
    machine.stream->deliver_to(sink);
    // A damaged file's times may not fit the common clock; it goes on nevertheless.
    const uint64_t until = std::max(machine.stream->own_time(until_ns), machine.reader.next_ns());
    machine.ended = machine.reader.deliver(*machine.stream, until) == State::end;
}

MergedRecordings::State MergedRecordings::deliver(EventSink& sink, uint64_t until_ns) {
    if (machines_.size() == 1)
        return machines_.front().reader.deliver(sink, until_ns);
    for (Machine& machine : machines_) {
        if (std::exchange(machine.begun, true))
            continue;
        machine.stream->deliver_to(sink);
        machine.stream->tell_machine();
        // What stands before its first event with a time.
        machine.ended = machine.reader.deliver(*machine.stream, 0) == State::end;
    }
    const auto next_of = [](const Machine& machine) {
        return machine.stream->common_time(machine.reader.next_ns());
    };
    while (true) {
        // One after the other, each up to where the next one goes on.
        Machine* next = nullptr;
        uint64_t limit = until_ns;
        for (Machine& machine : machines_) {
            if (machine.ended)
                continue;
            if (!next || next_of(machine) < next_of(*next)) {
                if (next)
                    limit = std::min(limit, next_of(*next));
                next = &machine;
            } else {
                limit = std::min(limit, next_of(machine));
            }
        }
        if (!next)
            return State::end;
        if (next_of(*next) > until_ns)
            return State::more;
        deliver_next(*next, sink, limit);
    }
}

StreamSpan MergedRecordings::span() const {
    if (machines_.size() == 1)
        return machines_.front().reader.span();
    StreamSpan all;
    for (const Machine& machine : machines_) {
        const StreamSpan& one = machine.reader.span();
        all.events += one.events;
        if (!one.timed)
            continue;
        const uint64_t first = machine.stream->common_time(one.first_ns);
        const uint64_t last = machine.stream->common_time(one.last_ns);
        all.first_ns = all.timed ? std::min(all.first_ns, first) : first;
        all.last_ns = std::max(all.last_ns, last);
        all.timed = true;
    }
    return all;
}

std::string MergedRecordings::damage_text() const {
    std::string text;
    for (const Machine& machine : machines_)
        if (const std::string one = machine.reader.damage_text(); !one.empty())
            text += (text.empty() ? "" : "; ") + one;
    return text;
}

std::string MergedRecordings::name() const {
    if (machines_.size() == 1)
        return machines_.front().path;
    return fmt::format("{} and {} more", machines_.front().path, machines_.size() - 1);
}

} // namespace auger
