// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/needed_definitions.h"

namespace auger {

NeededDefinitions::NeededDefinitions(const DefinitionLog& log, EventSink& sink)
    : log_(log), sink_(sink) {
    log_.replay_shared(sink_);
}

LocationId NeededDefinitions::location(LocationId id) {
    if (locations_.knows(id))
        return locations_.of(id);
    const auto location = log_.location(id);
    const LocationId own = locations_.define(id);
    sink_.on_location(own, location.value_or(Location{}));
    if (const auto frames = log_.frames(id); !frames.empty())
        sink_.on_frames(own, frames);
    else
        nameless_.insert(id.value);
    return own;
}

void NeededDefinitions::on_frames(LocationId id, std::span<const Frame> frames) {
    if (!locations_.knows(id))
        return; // it has them when it is needed
    nameless_.erase(id.value);
    sink_.on_frames(locations_.of(id), frames);
}

StackId NeededDefinitions::stack(StackId id) {
    if (stacks_.knows(id))
        return stacks_.of(id);
    std::vector<LocationId> locations = log_.stack(id);
    for (LocationId& one : locations)
        one = location(one);
    const StackId own = stacks_.define(id);
    sink_.on_stack(own, locations);
    return own;
}

ThreadId NeededDefinitions::thread(ThreadId id) {
    if (threads_.knows(id))
        return threads_.of(id);
    const ThreadInfo info = log_.thread(id);
    const ThreadId own = threads_.define(id);
    sink_.on_thread(own, info);
    return own;
}

CallEndEvent NeededDefinitions::own(const CallEndEvent& end) {
    CallEndEvent told = end;
    told.thread = thread(end.thread);
    return told;
}

void NeededDefinitions::on_sample(const SampleEvent& event) {
    SampleEvent told = event;
    told.thread = thread(event.thread);
    told.stack = stack(event.stack);
    sink_.on_sample(told);
}

void NeededDefinitions::on_call_end(const CallEndEvent& event) {
    sink_.on_call_end(own(event));
}

void NeededDefinitions::on_slow_call(const SlowCallEvent& event) {
    SlowCallEvent told = event;
    told.end = own(event.end);
    told.stack = stack(event.stack);
    sink_.on_slow_call(told);
}

void NeededDefinitions::on_call_parts(const CallPartsEvent& event) {
    CallPartsEvent told = event;
    told.end = own(event.end);
    sink_.on_call_parts(told);
}

} // namespace auger
