// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/hotspot_names.h"

#include "bpf/unwind_table.h"
#include "loader/kernel/clock.h"

#include <utility>
#include <variant>

namespace auger {

namespace {

constexpr size_t bytes_beside = 64; // of an entry, besides what it holds

HotspotNames::Name make_frames(HotspotFrame functions) {
    HotspotNames::Name name;
    uint64_t hash = empty_hash;
    for (HotspotFunction& function : functions) {
        const uint32_t line = function.line;
        hash = add_to_hash(hash, function.name);
        hash = add_to_hash(hash, {reinterpret_cast<const char*>(&line), sizeof line});
        hash = add_to_hash(hash, function.file);
        name.frames.push_back({std::move(function.name), std::move(function.file), line, true});
    }
    name.frames.back().inlined = false;
    name.address = hash;
    return name;
}

bool is_compiled(const FrameKey& words) {
    return (words.first & WIRE_FRAME_KIND) == WIRE_FRAME_HOTSPOT_CODE;
}

size_t bytes_of(const HotspotNames::Name& name) {
    size_t bytes = sizeof name + bytes_beside;
    for (const Frame& frame : name.frames)
        bytes += sizeof frame + frame.function.capacity() + frame.file.capacity();
    return bytes;
}

} // namespace

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

HotspotFrameAnswer HotspotNames::read(Processes::Process& process, pid_t pid,
                                      const FrameKey& words) {
    auto answer = processes_.read(
        process, pid, [words](const ReadMemory& memory, const HotspotLayout& layout) {
            const uint64_t address = words.first & ~WIRE_FRAME_KIND, second = words.second;
            return is_compiled(words)
                       ? read_hotspot_code(memory, layout.values, layout.walk, address, second)
                       : read_hotspot_method(memory, layout.values, address, second);
        });
    if (!answer)
        return HotspotFrameProblem::late;
    return std::move(*answer);
}

const HotspotNames::Name& HotspotNames::name(pid_t pid, uint64_t first, uint64_t second) {
    if (first == WIRE_FRAME_HOTSPOT_BYTECODE)
        return unnamed(Missing::interpreter);
    Processes::Process* const process = processes_.find(pid);
    if (!process)
        return unnamed(Missing::unreadable);
    const FrameKey words{first, second};
    const uint64_t now_ns = clock_ns();
    auto& names = process->known;
    if (const auto known = names.find(words); known != names.end()) {
        // Of a process that has ended there is nothing better.
        if (is_compiled(words) || process->ended || now_ns - known->second.read_ns < believed_ns_)
            return known->second.name;
        processes_.discount(*process, bytes_of(known->second.name));
        names.erase(known);
    }
    processes_.make_room(*process);
    auto answer = read(*process, pid, words);
    auto* const frame = std::get_if<HotspotFrame>(&answer);
    if (frame && !frame->empty()) {
        Known known{make_frames(std::move(*frame)), now_ns};
        const Name& name = names.emplace(words, std::move(known)).first->second.name;
        processes_.count(*process, bytes_of(name));
        return name;
    }
    const auto problem =
        frame ? HotspotFrameProblem::unreadable : std::get<HotspotFrameProblem>(answer);
    return unnamed(problem == HotspotFrameProblem::gone   ? Missing::gone
                   : problem == HotspotFrameProblem::late ? Missing::late
                                                          : Missing::unreadable);
}

} // namespace auger
