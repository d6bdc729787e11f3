// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/hotspot_names.h"

#include "bpf/unwind_table.h"
#include "loader/base/read_clock.h"
#include "loader/kernel/clock.h"
#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace auger {

namespace {

constexpr size_t bytes_beside = 64; // of an entry, besides what it holds
// How long a process is left alone whose memory could not be read in time: twice as long each time.
constexpr uint64_t first_pause_ns = second_ns, last_pause_ns = 64 * second_ns;

// FNV-1a: the same in every process, so that recordings of several machines agree.
uint64_t add_to_hash(uint64_t hash, std::string_view text) {
    for (const char byte : text)
        hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    return hash;
}

HotspotNames::Name make_frames(HotspotFrame functions) {
    HotspotNames::Name name;
    uint64_t hash = 0xcbf29ce484222325;
    for (HotspotFunction& function : functions) {
        const uint32_t line = function.line;
        hash = add_to_hash(hash, function.name);
        hash = add_to_hash(hash, {reinterpret_cast<const char*>(&line), sizeof line});
        name.frames.push_back({std::move(function.name), std::move(function.file), line, true});
    }
    name.frames.back().inlined = false;
    name.address = hash;
    return name;
}

size_t bytes_of(const HotspotNames::Name& name) {
    size_t bytes = sizeof name + bytes_beside;
    for (const Frame& frame : name.frames)
        bytes += sizeof frame + frame.function.capacity() + frame.file.capacity();
    return bytes;
}

} // namespace

size_t HotspotNames::KeyHash::operator()(const Key& key) const noexcept {
    return (key.first ^ key.second * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 7;
}

void HotspotNames::set_layout(pid_t pid, uint64_t executed_ns,
                              std::shared_ptr<const HotspotLayout> layout) {
    Process& process = processes_[pid];
    if (process.layout == layout && process.executed_ns == executed_ns && !process.ended)
        return;
    forget_names(process);
    process = {};
    process.executed_ns = executed_ns;
    process.layout = std::move(layout);
}

void HotspotNames::end(pid_t pid) {
    const auto process = processes_.find(pid);
    if (process == processes_.end() || process->second.ended)
        return;
    process->second.ended = true;
    ended_.push_back(pid);
    if (ended_.size() <= most_ended)
        return;
    if (const auto oldest = processes_.find(ended_.front());
        oldest != processes_.end() && oldest->second.ended) {
        forget_names(oldest->second);
        processes_.erase(oldest);
    }
    ended_.pop_front();
}

void HotspotNames::forget_names(Process& process) {
    process.names.clear();
    bytes_ -= process.bytes;
    process.bytes = 0;
}

void HotspotNames::make_room(Process& process) {
    if (process.bytes >= most_bytes_of_process)
        forget_names(process);
    if (bytes_ < most_bytes)
        return;
    const auto by_bytes = [](const auto& one, const auto& other) {
        return one.second.bytes < other.second.bytes;
    };
    forget_names(std::ranges::max_element(processes_, by_bytes)->second);
}

const HotspotNames::Name& HotspotNames::unnamed(Missing cause) {
    static const auto make = [](uint64_t address, const char* text) {
        Name name;
        name.address = address;
        name.frames.push_back({text, {}});
        return name;
    };
    static const std::array<Name, causes> names = {
        make(1, "[java: unreadable]"),
        make(2, "[java: gone before its name was read]"),
        make(3, "[java: its memory could not be read in time]"),
        make(4, "[interpreter]"),
    };
    missing_[static_cast<size_t>(cause)]++;
    return names[static_cast<size_t>(cause)];
}

HotspotFrameAnswer HotspotNames::read(Process& process, pid_t pid, uint64_t first,
                                      uint64_t second) {
    if (clock_ns() < process.spared_until_ns)
        return HotspotFrameProblem::late;
    // Of both threads: should it be late, that one still writes.
    const auto answer = std::make_shared<HotspotFrameAnswer>();
    const bool in_time = run_in_time([answer, layout = process.layout, pid, first, second] {
        const pid_t tid = living_thread(pid);
        const ReadMemory read = [tid](uint64_t from, void* bytes, size_t size) {
            return copy_process_memory(tid, from, bytes, size) ? MemoryRead::whole
                                                               : MemoryRead::unreadable;
        };
        const uint64_t address = first & ~WIRE_FRAME_KIND;
        *answer = (first & WIRE_FRAME_KIND) == WIRE_FRAME_HOTSPOT_CODE
                      ? read_hotspot_code(read, layout->values, layout->walk, address, second)
                      : read_hotspot_method(read, layout->values, address, second);
    });
    if (in_time)
        return *answer;
    process.spared_ns = std::clamp(2 * process.spared_ns, first_pause_ns, last_pause_ns);
    process.spared_until_ns = clock_ns() + process.spared_ns;
    return HotspotFrameProblem::late;
}

const HotspotNames::Name& HotspotNames::name(pid_t pid, uint64_t first, uint64_t second) {
    if (first == WIRE_FRAME_HOTSPOT_BYTECODE)
        return unnamed(Missing::interpreter);
    const auto found = processes_.find(pid);
    if (found == processes_.end())
        return unnamed(Missing::unreadable);
    Process& process = found->second;
    const Key key{first, second};
    if (const auto known = process.names.find(key); known != process.names.end())
        return known->second;
    make_room(process);
    auto answer = read(process, pid, first, second);
    auto* const frame = std::get_if<HotspotFrame>(&answer);
    if (frame && !frame->empty()) {
        const Name& name = process.names.emplace(key, make_frames(std::move(*frame))).first->second;
        const size_t bytes = bytes_of(name);
        process.bytes += bytes;
        bytes_ += bytes;
        return name;
    }
    const auto problem =
        frame ? HotspotFrameProblem::unreadable : std::get<HotspotFrameProblem>(answer);
    return unnamed(problem == HotspotFrameProblem::gone   ? Missing::gone
                   : problem == HotspotFrameProblem::late ? Missing::late
                                                          : Missing::unreadable);
}

} // namespace auger
