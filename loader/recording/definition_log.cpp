// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/definition_log.h"

#include "loader/stream/quiet_sink.h"

namespace auger {
namespace {

class OneDefinition final : public QuietSink {
  public:
    std::optional<Location> location;
    std::vector<Frame> frames;
    std::vector<LocationId> stack;
    ThreadInfo thread;

    void on_location(LocationId, const Location& told) override { location = told; }
    void on_frames(LocationId, std::span<const Frame> told) override {
        frames.assign(told.begin(), told.end());
    }
    void on_stack(StackId, std::span<const LocationId> told) override {
        stack.assign(told.begin(), told.end());
    }
    void on_thread(ThreadId, const ThreadInfo& told) override { thread = told; }
};

} // namespace

size_t DefinitionLog::bytes() const {
    size_t bytes = encoder_.bytes().size() + places_.bytes().size();
    for (const auto* by_id : {&stacks_, &threads_})
        for (const std::string& definition : *by_id)
            bytes += definition.size();
    return bytes;
}

size_t DefinitionLog::memory_bytes() const {
    return encoder_.bytes().capacity() + places_.bytes().capacity() + by_id_bytes_ +
           (locations_at_.capacity() + frames_at_.capacity()) * sizeof(uint64_t) +
           (stacks_.capacity() + threads_.capacity()) * sizeof(std::string);
}

void DefinitionLog::tell(std::string_view records, EventSink& sink) const {
    decoder_.start_block(records);
    (void)decoder_.step(sink, UINT64_MAX);
}

void DefinitionLog::tell(const std::vector<uint64_t>& at, size_t id, EventSink& sink) const {
    if (id < at.size() && at[id] != nowhere)
        tell(std::string_view(places_.bytes()).substr(at[id]), sink);
}

std::optional<Location> DefinitionLog::location(LocationId id) const {
    OneDefinition one;
    tell(locations_at_, id.index(), one);
    return one.location;
}

std::span<const Frame> DefinitionLog::frames(LocationId id) const {
    OneDefinition one;
    tell(frames_at_, id.index(), one);
    frames_ = std::move(one.frames);
    return frames_;
}

std::vector<LocationId> DefinitionLog::stack(StackId id) const {
    OneDefinition one;
    if (id.index() < stacks_.size())
        tell(stacks_[id.index()], one);
    return std::move(one.stack);
}

ThreadInfo DefinitionLog::thread(ThreadId id) const {
    OneDefinition one;
    if (id.index() < threads_.size())
        tell(threads_[id.index()], one);
    return std::move(one.thread);
}

void DefinitionLog::replay(EventSink& sink) const {
    RecordDecoder decoder;
    const auto deliver = [&](std::string_view block) {
        decoder.start_block(block);
        while (decoder.step(sink, UINT64_MAX) == RecordDecoder::Step::delivered)
            ;
    };
    deliver(encoder_.bytes());
    deliver(places_.bytes());
    for (const auto* by_id : {&stacks_, &threads_})
        for (const std::string& definition : *by_id)
            deliver(definition);
    for (const auto& [id, probe] : probes_)
        sink.on_probe(probe);
    sink.on_split(split_);
    sink.on_only(only_);
}

void DefinitionLog::replay_shared(EventSink& sink) const {
    decoder_.start_block(encoder_.bytes());
    while (decoder_.step(sink, UINT64_MAX) == RecordDecoder::Step::delivered)
        ;
    for (const auto& [id, probe] : probes_)
        sink.on_probe(probe);
    sink.on_split(split_);
    sink.on_only(only_);
}

} // namespace auger
