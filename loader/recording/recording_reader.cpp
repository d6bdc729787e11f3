// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recording_reader.h"

#include "loader/recording/format.h"
#include "loader/stream/quiet_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {
namespace {

using Holds = RecordingIndex::Holds;

// Passes on definitions, and of events their time.
class DefinitionsOnly final : public QuietSink {
  public:
    explicit DefinitionsOnly(EventSink& sink) : sink_(sink) {}

    void on_machine(MachineId id, const MachineInfo& info) override { sink_.on_machine(id, info); }
    void on_module(ModuleId id, const ModuleInfo& info) override { sink_.on_module(id, info); }
    void on_location(LocationId id, const Location& location) override {
        sink_.on_location(id, location);
    }
    void on_frames(LocationId id, std::span<const Frame> frames) override {
        sink_.on_frames(id, frames);
    }
    void on_stack(StackId id, std::span<const LocationId> stack) override {
        sink_.on_stack(id, stack);
    }
    void on_thread(ThreadId id, const ThreadInfo& info) override { sink_.on_thread(id, info); }
    void on_spec(SpecId id, const SpecInfo& info) override { sink_.on_spec(id, info); }
    void on_probe(const ProbeInfo& info) override { sink_.on_probe(info); }
    void on_split(const SplitInfo& info) override { sink_.on_split(info); }
    void on_only(const OnlyInfo& info) override { sink_.on_only(info); }
    void on_label(LabelId id, const std::string& text) override { sink_.on_label(id, text); }
    void on_ledger(const LedgerEvent& ledger) override { sink_.on_ledger(ledger); }
    void on_time(uint64_t time_ns) override { sink_.on_time(time_ns); }

  private:
    EventSink& sink_;
};

} // namespace

Result<RecordingReader> RecordingReader::open(const std::string& path) {
    auto file = RecordingFile::open(path);
    if (!file)
        return file.error();
    return RecordingReader(std::move(*file));
}

RecordingReader::RecordingReader(RecordingFile file) : file_(std::move(file)) {
    rewind();
}

std::optional<std::string> RecordingReader::load_index() {
    RecordingIndex index;
    switch (file_.read_index(index)) {
    case RecordingFile::IndexState::good:
        index_ = std::move(index);
        return std::nullopt;
    case RecordingFile::IndexState::damaged:
        return "its index is damaged";
    default:
        return "it has no index";
    }
}

void RecordingReader::rewind() {
    decoder_ = RecordDecoder(file_.version());
    offset_ = recording::header_size;
    next_in_index_ = end_in_index_ = 0;
    indexed_ = nullptr;
    begun_ = ended_ = false;
    passed_ns_ = waits_for_ns_ = 0;
    damage_.reset();
}

RecordingReader::State RecordingReader::deliver(EventSink& to, uint64_t until_ns) {
    DefinitionsOnly definitions(to);
    EventSink& sink = surveying_ ? static_cast<EventSink&>(definitions) : to;
    if (surveying_ && index_)
        return survey_definitions(sink, until_ns);
    while (!ended_) {
        switch (decoder_.step(sink, until_ns)) {
        case RecordDecoder::Step::delivered:
            break;
        case RecordDecoder::Step::later:
            return State::more;
        case RecordDecoder::Step::block_end:
            ended_ = !next_block();
            break;
        case RecordDecoder::Step::end:
            ended_ = true;
            check_end();
            break;
        case RecordDecoder::Step::damaged:
            ended_ = true;
            damaged(decoder_.problem());
            break;
        }
    }
    return State::end;
}

// A block of definitions is one record, of the time until which the events before it last.
RecordingReader::State RecordingReader::survey_definitions(EventSink& sink, uint64_t until_ns) {
    if (!std::exchange(begun_, true))
        tell_rates(sink);
    while (!ended_) {
        if (!indexed_ && !(indexed_ = next_wanted(true)))
            break;
        if (indexed_->last_ns > until_ns) {
            waits_for_ns_ = indexed_->last_ns;
            return State::more;
        }
        waits_for_ns_ = 0;
        if (indexed_->last_ns > passed_ns_)
            sink.on_time(passed_ns_ = indexed_->last_ns);
        offset_ = std::exchange(indexed_, nullptr)->offset;
        if (!read_block())
            break;
        RecordDecoder::Step step{};
        do
            step = decoder_.step(sink, UINT64_MAX);
        while (step == RecordDecoder::Step::delivered);
        if (step == RecordDecoder::Step::damaged) {
            damaged(decoder_.problem());
            break;
        }
    }
    ended_ = true;
    return State::end;
}

// What else events would have told of the whole.
void RecordingReader::tell_rates(EventSink& sink) const {
    for (const auto& [hz, wall] : index_->rates) {
        LedgerEvent ledger;
        ledger.time_ns = std::max(index_->first_ns, range_.from_ns);
        ledger.rate_hz = hz;
        ledger.wall = wall;
        sink.on_ledger(ledger);
    }
}

bool RecordingReader::damaged(std::string problem) {
    if (!damage_)
        damage_ = {block_offset_, std::move(problem)};
    return false;
}

bool RecordingReader::is_wanted(const RecordingIndex::Block& block) const {
    switch (block.holds) {
    case Holds::definitions:
        return true;
    case Holds::both: // as definitions, and so whatever comes before what is wanted
        return block.first_ns <= range_.to_ns;
    case Holds::events:
        return block.first_ns <= range_.to_ns && block.last_ns >= range_.from_ns;
    default:
        return range_.whole();
    }
}

const RecordingIndex::Block* RecordingReader::next_wanted(bool definitions_only) {
    const std::vector<RecordingIndex::Block>& blocks = index_->blocks;
    if (next_in_index_ == 0) {
        // Definitions are for the events behind them.
        end_in_index_ = blocks.size();
        while (end_in_index_ > 0 && (blocks[end_in_index_ - 1].holds == Holds::definitions ||
                                     !is_wanted(blocks[end_in_index_ - 1])))
            end_in_index_--;
    }
    while (next_in_index_ < end_in_index_) {
        const RecordingIndex::Block& block = blocks[next_in_index_++];
        const bool defines = block.holds == Holds::definitions || block.holds == Holds::both;
        if (definitions_only ? defines : is_wanted(block))
            return &block;
    }
    return nullptr;
}

// False at the end of what can be read, with damage_ set, or of what is wanted.
bool RecordingReader::next_block() {
    if (indexed_ && !index_was_right())
        distrust_index();
    indexed_ = nullptr;
    if (index_ && !range_.whole()) {
        indexed_ = next_wanted(false);
        if (!indexed_)
            return false;
        offset_ = indexed_->offset;
        decoder_.pass_over();
    }
    return read_block();
}

// All that follows is read. What was passed over may have been wanted: that is told.
void RecordingReader::distrust_index() {
    damaged("its index does not match its blocks: events before this place may be missing");
    index_.reset();
    indexed_ = nullptr;
}

bool RecordingReader::read_block() {
    block_offset_ = offset_;
    uint64_t size = 0;
    if (auto problem = file_.read_block(offset_, block_, size))
        return damaged(std::move(*problem));
    if (indexed_ && indexed_->size != size)
        distrust_index();
    offset_ += size;
    decoder_.start_block(block_);
    return true;
}

// Whether the events of the block, which were all delivered, were where the index has them.
bool RecordingReader::index_was_right() const {
    const StreamSpan& span = decoder_.block_span();
    return !span.timed ||
           ((indexed_->holds == Holds::events || indexed_->holds == Holds::both) &&
            span.first_ns >= indexed_->first_ns && span.last_ns <= indexed_->last_ns);
}

// Behind the end mark is the index, and nothing else.
void RecordingReader::check_end() {
    if (file_.version() < recording::first_indexed_version)
        return;
    if (auto problem = file_.check_index(offset_)) {
        block_offset_ = offset_;
        damaged(std::move(*problem));
    }
}

std::string RecordingReader::damage_text() const {
    if (!damage_)
        return {};
    const double seconds = static_cast<double>(span().last_ns - span().first_ns) / 1e9;
    return fmt::format("recording {}: {} (at byte {}); {:.3f} s with {} events were read",
                       file_.path(), damage_->problem, damage_->offset, seconds, span().events);
}

} // namespace auger
