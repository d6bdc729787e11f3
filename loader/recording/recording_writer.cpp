// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recording_writer.h"

#include "loader/process/new_file.h"
#include "loader/recording/checksum.h"
#include "loader/recording/format.h"

#include <zlib.h>

#include <algorithm>

namespace auger {
namespace {

// Writing must stay cheap beside what is recorded: samples shrink to about 60 % even so.
constexpr int compression_level = 1;

} // namespace

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::string& path) {
    const auto about_recording = [](Error error) {
        error.operation = "record";
        return error;
    };
    auto file = NewFile::create(path, recording::magic);
    if (!file)
        return about_recording(file.error());
    auto writer = std::make_unique<RecordingWriter>(file->descriptor(), path);
    if (auto error = writer->take_error())
        return *error;
    // It begins as a recording does, and from now on is one, however auger ends.
    if (auto named = file->take_name(); !named)
        return about_recording(named.error());
    return writer;
}

RecordingWriter::RecordingWriter(UniqueFd file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {
    std::string header(recording::magic);
    ByteWriter out(header);
    out.fixed32(recording::version);
    out.fixed32(checksum(header));
    write(header);
}

RecordingWriter::~RecordingWriter() {
    (void)finish();
}

Result<void> RecordingWriter::finish() {
    if (!finished_ && !failed_) {
        encoder_.put_end(events_);
        flush();
    }
    finished_ = true;
    if (auto error = take_error())
        return *error;
    return {};
}

std::optional<Error> RecordingWriter::take_error() {
    return std::exchange(error_, std::nullopt);
}

void RecordingWriter::fail(Error error) {
    failed_ = true;
    error_ = std::move(error);
    events_ -= block_events_;
    lost_ += block_events_;
    block_events_ = 0;
    encoder_.clear();
    // Half a block would only make the reader speak of damage. Nothing to be done if this fails
    // too.
    (void)!ftruncate(file_.get(), static_cast<off_t>(written_));
}

void RecordingWriter::write(std::string_view bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::write(file_.get(), bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            fail(system_error("write recording", path_, "it ends here; the session goes on",
                              got == 0 ? ENOSPC : errno));
            return;
        }
        done += static_cast<size_t>(got);
    }
    written_ += bytes.size();
}

void RecordingWriter::flush() {
    if (encoder_.bytes().empty())
        return;
    write_block(encoder_.bytes());
    if (failed_)
        return;
    encoder_.clear();
    block_events_ = 0;
    block_start_ns_.reset();
}

void RecordingWriter::append_block(std::string_view records, uint64_t events) {
    if (open())
        flush();
    if (!open()) {
        lost_ += events;
        return;
    }
    events_ += events;
    block_events_ = events;
    write_block(records);
    block_events_ = 0;
}

void RecordingWriter::write_block(std::string_view raw) {
    // Behind room for the header; records that do not shrink are stored as they are.
    constexpr size_t header_size = recording::block_header_size;
    uLongf stored = compressBound(raw.size());
    frame_.resize(header_size + stored);
    const int result =
        compress2(reinterpret_cast<Bytef*>(frame_.data() + header_size), &stored,
                  reinterpret_cast<const Bytef*>(raw.data()), raw.size(), compression_level);
    if (result != Z_OK || stored >= raw.size()) {
        stored = raw.size();
        std::copy(raw.begin(), raw.end(), frame_.begin() + header_size);
    }
    frame_.resize(header_size + stored);

    std::string sizes;
    ByteWriter(sizes).fixed32(static_cast<uint32_t>(stored));
    ByteWriter(sizes).fixed32(static_cast<uint32_t>(raw.size()));
    std::copy(sizes.begin(), sizes.end(), frame_.begin() + sizeof(uint32_t));
    std::string sum;
    ByteWriter(sum).fixed32(checksum(std::string_view(frame_).substr(sizeof(uint32_t))));
    std::copy(sum.begin(), sum.end(), frame_.begin());

    write(frame_);
}

// Whether the next record is taken; when not, an event among them is counted as lost.
bool RecordingWriter::open() const {
    return !failed_ && !finished_;
}

template <typename Put>
void RecordingWriter::define(Put put) {
    if (!open())
        return;
    put();
    if (encoder_.bytes().size() >= recording::block_bytes)
        flush();
}

template <typename Put>
void RecordingWriter::event(uint64_t time_ns, Put put) {
    if (!open()) {
        ++lost_;
        return;
    }
    ++events_;
    ++block_events_;
    timed(time_ns, put);
}

template <typename Put>
void RecordingWriter::timed(uint64_t time_ns, Put put) {
    if (!open())
        return;
    put();
    if (!block_start_ns_)
        block_start_ns_ = time_ns;
    // Times of different CPUs are not in order: an earlier one must not wrap around.
    const bool due =
        time_ns > *block_start_ns_ && time_ns - *block_start_ns_ >= recording::block_ns;
    if (due || encoder_.bytes().size() >= recording::block_bytes)
        flush();
}

void RecordingWriter::on_machine(MachineId id, const MachineInfo& info) {
    define([&] { encoder_.on_machine(id, info); });
}
void RecordingWriter::on_module(ModuleId id, const ModuleInfo& info) {
    define([&] { encoder_.on_module(id, info); });
}
void RecordingWriter::on_location(LocationId id, const Location& location) {
    define([&] { encoder_.on_location(id, location); });
}
void RecordingWriter::on_frames(LocationId id, std::span<const Frame> frames) {
    define([&] { encoder_.on_frames(id, frames); });
}
void RecordingWriter::on_stack(StackId id, std::span<const LocationId> stack) {
    define([&] { encoder_.on_stack(id, stack); });
}
void RecordingWriter::on_thread(ThreadId id, const ThreadInfo& info) {
    define([&] { encoder_.on_thread(id, info); });
}
void RecordingWriter::on_spec(SpecId id, const SpecInfo& info) {
    define([&] { encoder_.on_spec(id, info); });
}
void RecordingWriter::on_probe(const ProbeInfo& info) {
    define([&] { encoder_.on_probe(info); });
}
void RecordingWriter::on_split(const SplitInfo& info) {
    define([&] { encoder_.on_split(info); });
}
void RecordingWriter::on_only(const OnlyInfo& info) {
    define([&] { encoder_.on_only(info); });
}
void RecordingWriter::on_label(LabelId id, const std::string& text) {
    define([&] { encoder_.on_label(id, text); });
}
void RecordingWriter::on_sample(const SampleEvent& sample) {
    event(sample.time_ns, [&] { encoder_.on_sample(sample); });
}
void RecordingWriter::on_call_end(const CallEndEvent& end) {
    event(end.time_ns, [&] { encoder_.on_call_end(end); });
}
void RecordingWriter::on_slow_call(const SlowCallEvent& call) {
    event(call.end.time_ns, [&] { encoder_.on_slow_call(call); });
}
void RecordingWriter::on_call_parts(const CallPartsEvent& call) {
    event(call.end.time_ns, [&] { encoder_.on_call_parts(call); });
}
void RecordingWriter::on_stats(const StatsEvent& stats) {
    event(stats.time_ns, [&] { encoder_.on_stats(stats); });
}
void RecordingWriter::on_ledger(const LedgerEvent& ledger) {
    event(ledger.time_ns, [&] { encoder_.on_ledger(ledger); });
}
void RecordingWriter::on_notice(uint64_t time_ns, const std::string& text) {
    event(time_ns, [&] { encoder_.on_notice(time_ns, text); });
}
void RecordingWriter::on_time(uint64_t time_ns) {
    timed(time_ns, [&] { encoder_.on_time(time_ns); });
}

} // namespace auger
