// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/interval_recorder.h"

#include "loader/process/file_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {
namespace {

constexpr const char* name_prefix = "recording";
constexpr const char* name_extension = ".auger";
constexpr const char* last_link = "last_recording.auger";

// How long a recording waits for events that are late, and for names.
constexpr uint64_t late_events_ns = 1'000'000'000;
constexpr uint64_t late_names_ns = 5'000'000'000;

} // namespace

Result<std::unique_ptr<IntervalRecorder>>
IntervalRecorder::begin(const IntervalRecording& wanted, const DefinitionLog& log, uint64_t session,
                        uint64_t& number, uint64_t now_ns) {
    if (auto made = make_folder(wanted.folder); !made)
        return made.error();
    std::unique_ptr<IntervalRecorder> recorder(new IntervalRecorder(wanted, log, session, number));
    auto first = recorder->open(now_ns);
    if (!first)
        return first.error();
    recorder->intervals_.push_back(std::move(*first));
    return recorder;
}

Result<IntervalRecorder::Interval> IntervalRecorder::open(uint64_t begin_ns) {
    end_ns_ = begin_ns + wanted_.every_ns;
    Interval interval{begin_ns, end_ns_,
                      fmt::format("{}_{}{}", name_prefix,
                                  time_stamp(log_.machine().boot_ns + begin_ns), name_extension),
                      nullptr, nullptr};
    auto writer = RecordingWriter::create(wanted_.folder + "/" + interval.name,
                                          SeriesInfo{session_, ++number_});
    if (!writer)
        return writer.error();
    interval.writer = std::move(*writer);
    interval.sink = std::make_unique<NeededDefinitions>(log_, *interval.writer);
    // What was lost before is not this one's: with it a reader knows what there was.
    LedgerEvent before = log_.ledger().value_or(LedgerEvent{});
    before.time_ns = begin_ns;
    interval.sink->on_ledger(before);
    return interval;
}

void IntervalRecorder::fail(Interval* interval, const Error& error) {
    const std::string text = error.message();
    if (interval)
        interval->problem = text;
    if (told_.insert(error.operation + ": " + error.cause).second)
        errors_.push_back(error);
    if (report_.first_problem.empty())
        report_.first_problem = text;
}

// Intervals in which nothing came have no recording.
void IntervalRecorder::follow(uint64_t time_ns) {
    const uint64_t over = (time_ns - end_ns_) / wanted_.every_ns;
    auto next = open(end_ns_ + over * wanted_.every_ns);
    if (next) {
        intervals_.push_back(std::move(*next));
        return;
    }
    report_.failed++;
    fail(nullptr, next.error());
}

EventSink* IntervalRecorder::of(uint64_t time_ns) {
    if (finished_)
        return nullptr;
    if (time_ns >= end_ns_)
        follow(time_ns);
    // What is older than all that wait is late.
    for (Interval& interval : intervals_)
        if (time_ns < interval.end_ns)
            return interval.sink.get();
    return nullptr;
}

void IntervalRecorder::close(Interval& interval) {
    interval.sink.reset();
    if (auto finished = interval.writer->finish(); !finished)
        fail(&interval, finished.error());
    interval.writer.reset();
    if (interval.problem) {
        report_.failed++;
        return;
    }
    report_.written++;
    report_.last = time_stamp(log_.machine().boot_ns + interval.begin_ns);
    told_.clear();
    auto done = replace_link(wanted_.folder, last_link, interval.name);
    const std::string extension = name_extension;
    // Those that are being written are none of the kept.
    if (done)
        done = remove_old_files(wanted_.folder, name_prefix, {&extension, 1},
                                wanted_.keep + intervals_.size() - 1);
    if (!done)
        fail(nullptr, done.error());
}

void IntervalRecorder::close_what_is_over(uint64_t now_ns) {
    while (
        !intervals_.empty() && now_ns >= intervals_.front().end_ns + late_events_ns &&
        (intervals_.front().sink->named() || now_ns >= intervals_.front().end_ns + late_names_ns)) {
        close(intervals_.front());
        intervals_.pop_front();
    }
    for (Interval& interval : intervals_)
        if (const auto error = interval.writer->take_error())
            fail(&interval, *error);
}

Result<void> IntervalRecorder::finish() {
    while (!intervals_.empty()) {
        close(intervals_.front());
        intervals_.pop_front();
    }
    finished_ = true;
    if (auto error = take_error())
        return *error;
    return {};
}

std::optional<Error> IntervalRecorder::take_error() {
    if (errors_.empty())
        return std::nullopt;
    Error first = std::move(errors_.front());
    errors_.erase(errors_.begin());
    return first;
}

void IntervalRecorder::each(auto&& deliver) {
    for (Interval& interval : intervals_)
        deliver(*interval.sink);
}

void IntervalRecorder::on_machine(MachineId id, const MachineInfo& info) {
    each([&](EventSink& sink) { sink.on_machine(id, info); });
}
void IntervalRecorder::on_module(ModuleId id, const ModuleInfo& info) {
    each([&](EventSink& sink) { sink.on_module(id, info); });
}
void IntervalRecorder::on_frames(LocationId id, std::span<const Frame> frames) {
    each([&](EventSink& sink) { sink.on_frames(id, frames); });
}
void IntervalRecorder::on_stack(StackId id, std::span<const LocationId> stack) {
    each([&](EventSink& sink) { sink.on_stack(id, stack); });
}
void IntervalRecorder::on_thread(ThreadId id, const ThreadInfo& info) {
    each([&](EventSink& sink) { sink.on_thread(id, info); });
}
void IntervalRecorder::on_spec(SpecId id, const SpecInfo& info) {
    each([&](EventSink& sink) { sink.on_spec(id, info); });
}
void IntervalRecorder::on_probe(const ProbeInfo& info) {
    each([&](EventSink& sink) { sink.on_probe(info); });
}
void IntervalRecorder::on_split(const SplitInfo& info) {
    each([&](EventSink& sink) { sink.on_split(info); });
}
void IntervalRecorder::on_only(const OnlyInfo& info) {
    each([&](EventSink& sink) { sink.on_only(info); });
}
void IntervalRecorder::on_label(LabelId id, const std::string& text) {
    each([&](EventSink& sink) { sink.on_label(id, text); });
}
void IntervalRecorder::on_sample(const SampleEvent& event) {
    if (EventSink* sink = of(event.time_ns))
        sink->on_sample(event);
}
void IntervalRecorder::on_call_end(const CallEndEvent& event) {
    if (EventSink* sink = of(event.time_ns))
        sink->on_call_end(event);
}
void IntervalRecorder::on_slow_call(const SlowCallEvent& event) {
    if (EventSink* sink = of(event.end.time_ns))
        sink->on_slow_call(event);
}
void IntervalRecorder::on_call_parts(const CallPartsEvent& event) {
    if (EventSink* sink = of(event.end.time_ns))
        sink->on_call_parts(event);
}
void IntervalRecorder::on_stats(const StatsEvent& event) {
    if (EventSink* sink = of(event.time_ns))
        sink->on_stats(event);
}
void IntervalRecorder::on_ledger(const LedgerEvent& event) {
    if (EventSink* sink = of(event.time_ns))
        sink->on_ledger(event);
}
void IntervalRecorder::on_notice(uint64_t time_ns, const std::string& text) {
    if (EventSink* sink = of(time_ns))
        sink->on_notice(time_ns, text);
}
void IntervalRecorder::on_time(uint64_t time_ns) {
    if (EventSink* sink = of(time_ns))
        sink->on_time(time_ns);
    close_what_is_over(time_ns);
}

} // namespace auger
