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

void name(std::vector<uint32_t>& named, size_t id, uint32_t block) {
    if (id >= named.size() && id < recording::max_ids)
        named.resize(id + 1);
    if (id < named.size())
        named[id] = block;
}

bool is_named(const std::vector<uint32_t>& named, size_t id, uint32_t block) {
    return id < named.size() && named[id] == block;
}

} // namespace

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::string& path,
                                                                 const SeriesInfo& series) {
    const auto about_recording = [](Error error) {
        error.operation = "record";
        return error;
    };
    auto file = NewFile::create(path, recording::magic);
    if (!file)
        return about_recording(file.error());
    auto writer = std::make_unique<RecordingWriter>(file->descriptor(), path, series);
    if (auto error = writer->take_error())
        return *error;
    // It begins as a recording does, and from now on is one, however auger ends.
    if (auto named = file->take_name(); !named)
        return about_recording(named.error());
    return writer;
}

RecordingWriter::RecordingWriter(UniqueFd file, std::string path, const SeriesInfo& series)
    : file_(std::move(file)), path_(std::move(path)), index_(series) {
    std::string header(recording::magic);
    ByteWriter out(header);
    out.fixed32(recording::version);
    out.fixed32(checksum(header));
    write(header);
    if (series.session)
        definitions_.put_series(series);
}

RecordingWriter::~RecordingWriter() {
    (void)finish();
}

Result<void> RecordingWriter::finish() {
    if (!finished_ && !failed_) {
        flush();
        write_index();
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
    definitions_.clear();
    encoder_.clear();
    index_.drop_block();
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
    using Holds = RecordingIndex::Holds;
    for (const auto& [records, holds] :
         {std::pair{&definitions_, Holds::definitions}, std::pair{&encoder_, Holds::events}}) {
        if (records->bytes().empty())
            continue;
        const uint64_t size = write_block(records->bytes());
        if (failed_)
            return;
        index_.end_block(holds, size);
        records->clear();
    }
    block_events_ = 0;
    block_start_ns_.reset();
    block_++;
}

// The end mark, then where everything before is.
void RecordingWriter::write_index() {
    if (failed_)
        return;
    encoder_.put_end(events_);
    const uint64_t size = write_block(encoder_.bytes());
    if (failed_)
        return;
    index_.end_block(RecordingIndex::Holds::end, size);
    const uint64_t offset = written_;
    write_block(encode_index(index_.finish(events_)));
    if (!failed_)
        write(encode_footer(offset));
}

void RecordingWriter::append_block(std::string_view records, uint64_t events, uint64_t first_ns,
                                   uint64_t last_ns) {
    if (open())
        flush();
    if (!open()) {
        lost_ += events;
        return;
    }
    events_ += events;
    block_events_ = events;
    if (const uint64_t size = write_block(records); size > 0)
        index_.add_block(size, first_ns, last_ns);
    block_events_ = 0;
}

uint64_t RecordingWriter::write_block(std::string_view raw) {
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

    const uint64_t size = frame_.size();
    write(frame_);
    return failed_ ? 0 : size;
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
    if (definitions_.bytes().size() >= recording::block_bytes)
        flush();
}

template <typename Put>
void RecordingWriter::change(Put put) {
    if (open() && !encoder_.bytes().empty())
        flush();
    define(put);
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
    put(encoder_);
    put(index_);
    if (!block_start_ns_)
        block_start_ns_ = time_ns;
    // Times of different CPUs are not in order: an earlier one must not wrap around.
    const bool due =
        time_ns > *block_start_ns_ && time_ns - *block_start_ns_ >= recording::block_ns;
    if (due || encoder_.bytes().size() >= recording::block_bytes)
        flush();
}

void RecordingWriter::on_machine(MachineId id, const MachineInfo& info) {
    index_.on_machine(id, info);
    define([&] { definitions_.on_machine(id, info); });
}
void RecordingWriter::on_module(ModuleId id, const ModuleInfo& info) {
    define([&] { definitions_.on_module(id, info); });
}
void RecordingWriter::on_location(LocationId id, const Location& location) {
    define([&] { definitions_.on_location(id, location); });
}
void RecordingWriter::on_frames(LocationId id, std::span<const Frame> frames) {
    define([&] { definitions_.on_frames(id, frames); });
}
void RecordingWriter::on_stack(StackId id, std::span<const LocationId> stack) {
    if (is_named(stacks_named_, id.index(), block_))
        change([&] { definitions_.on_stack(id, stack); });
    else
        define([&] { definitions_.on_stack(id, stack); });
}
void RecordingWriter::on_thread(ThreadId id, const ThreadInfo& info) {
    if (is_named(threads_named_, id.index(), block_))
        change([&] { definitions_.on_thread(id, info); });
    else
        define([&] { definitions_.on_thread(id, info); });
}
void RecordingWriter::on_spec(SpecId id, const SpecInfo& info) {
    index_.on_spec(id, info);
    define([&] { definitions_.on_spec(id, info); });
}
void RecordingWriter::on_probe(const ProbeInfo& info) {
    index_.on_probe(info);
    change([&] { definitions_.on_probe(info); });
}
void RecordingWriter::on_split(const SplitInfo& info) {
    change([&] { definitions_.on_split(info); });
}
void RecordingWriter::on_only(const OnlyInfo& info) {
    change([&] { definitions_.on_only(info); });
}
void RecordingWriter::on_label(LabelId id, const std::string& text) {
    define([&] { definitions_.on_label(id, text); });
}
void RecordingWriter::on_sample(const SampleEvent& sample) {
    name(threads_named_, sample.thread.index(), block_);
    name(stacks_named_, sample.stack.index(), block_);
    event(sample.time_ns, [&](EventSink& to) { to.on_sample(sample); });
}
void RecordingWriter::on_call_end(const CallEndEvent& end) {
    name(threads_named_, end.thread.index(), block_);
    event(end.time_ns, [&](EventSink& to) { to.on_call_end(end); });
}
void RecordingWriter::on_slow_call(const SlowCallEvent& call) {
    name(threads_named_, call.end.thread.index(), block_);
    name(stacks_named_, call.stack.index(), block_);
    event(call.end.time_ns, [&](EventSink& to) { to.on_slow_call(call); });
}
void RecordingWriter::on_call_parts(const CallPartsEvent& call) {
    name(threads_named_, call.end.thread.index(), block_);
    event(call.end.time_ns, [&](EventSink& to) { to.on_call_parts(call); });
}
void RecordingWriter::on_stats(const StatsEvent& stats) {
    event(stats.time_ns, [&](EventSink& to) { to.on_stats(stats); });
}
void RecordingWriter::on_ledger(const LedgerEvent& ledger) {
    event(ledger.time_ns, [&](EventSink& to) { to.on_ledger(ledger); });
}
void RecordingWriter::on_notice(uint64_t time_ns, const std::string& text) {
    event(time_ns, [&](EventSink& to) { to.on_notice(time_ns, text); });
}
void RecordingWriter::on_time(uint64_t time_ns) {
    timed(time_ns, [&](EventSink& to) { to.on_time(time_ns); });
}

} // namespace auger
