// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/v8_names.h"

#include "bpf/unwind_table.h"
#include "loader/base/read_clock.h"
#include "loader/kernel/clock.h"
#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace auger {

namespace {

constexpr size_t bytes_of_entry = 64; // besides what it holds
// How long a process is left alone whose memory could not be read in time: twice as long each time.
constexpr uint64_t shortest_rest_ns = second_ns, longest_rest_ns = 64 * second_ns;
constexpr std::string_view no_file = "[javascript]";

// FNV-1a: the same in every process, so that recordings of several machines agree.
uint64_t continue_hash(uint64_t hash, std::string_view text) {
    for (const char byte : text)
        hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    return hash;
}

// Modules of ECMAScript are named as URLs.
std::string script_path(const std::string& script) {
    constexpr std::string_view scheme = "file://";
    return script.starts_with("file:///") ? script.substr(scheme.size()) : script;
}

std::string shown_function(const V8Function& function, const V8Lines& lines) {
    if (!function.name.empty())
        return function.name;
    if (!function.begin)
        return "anonymous";
    if (function.script && *function.begin == 0 && *function.end >= function.script->length)
        return "<module>";
    const V8Place place = v8_place(lines, *function.begin);
    return place.line ? fmt::format("anonymous:{}:{}", place.line, place.column) : "anonymous";
}

V8Names::Name name_script_function(const V8Function& function, const V8Lines& lines) {
    V8Names::Name name;
    const auto position = function.position ? function.position : function.begin;
    const uint32_t line = position ? v8_place(lines, *position).line : 0;
    name.frame.function = shown_function(function, lines);
    name.frame.file = script_path(function.file);
    name.frame.line = line;
    name.file = name.frame.file.empty() ? no_file : name.frame.file;
    // Several functions of a file have the same name.
    const std::array<uint32_t, 2> places = {function.begin.value_or(0), line};
    name.address = continue_hash(continue_hash(0xcbf29ce484222325, name.frame.function),
                                 {reinterpret_cast<const char*>(places.data()), sizeof places});
    return name;
}

// Innermost first.
std::variant<std::vector<V8Function>, V8Problem>
read_v8_frame(const ReadMemory& read, const V8Layout& layout, const V8FrameWords& words) {
    const uint64_t shared = words.first & ~WIRE_FRAME_KIND;
    auto owner = read_v8_function(read, layout, shared, words.second);
    if (const auto* const problem = std::get_if<V8Problem>(&owner))
        return *problem;
    std::vector<V8Function> functions;
    std::optional<uint32_t> position;
    // Without what its code says, the function is where it begins.
    if (words.code) {
        const auto answer = read_v8_code_place(read, layout, words.code & ~WIRE_FRAME_KIND,
                                               words.code_second, shared);
        const auto* const place = std::get_if<V8CodePlace>(&answer);
        for (const auto& inlined : place ? place->inlined : std::vector<V8CodePlace::Inlined>()) {
            auto one = read_v8_inlined(read, layout, inlined.shared, inlined.position);
            if (const auto* const problem = std::get_if<V8Problem>(&one))
                return *problem;
            functions.push_back(std::get<V8Function>(std::move(one)));
        }
        position = place ? place->position : std::nullopt;
    }
    functions.push_back(std::get<V8Function>(std::move(owner)));
    if (position)
        functions.back().position = position;
    return functions;
}

} // namespace

size_t V8Names::WordsHash::operator()(const V8FrameWords& words) const noexcept {
    const uint64_t function = words.first ^ words.second * 0x9e3779b97f4a7c15;
    const uint64_t code = words.code ^ words.code_second * 0x9e3779b97f4a7c15;
    return (function ^ code * 0xc2b2ae3d27d4eb4f) * 0xff51afd7ed558ccd >> 7;
}

void V8Names::set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const V8Layout> layout) {
    Process& process = processes_[pid];
    if (process.layout == layout && process.executed_ns == executed_ns && !process.ended)
        return;
    forget_names(process);
    process = {};
    process.executed_ns = executed_ns;
    process.layout = std::move(layout);
}

void V8Names::end(pid_t pid) {
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

void V8Names::count(Process& process, size_t bytes) {
    process.bytes += bytes;
    bytes_ += bytes;
}

void V8Names::forget_names(Process& process) {
    process.names.clear();
    process.scripts.clear();
    bytes_ -= process.bytes;
    process.bytes = 0;
}

void V8Names::make_room(Process& process) {
    if (process.bytes >= most_bytes_of_process)
        forget_names(process);
    if (bytes_ < most_bytes)
        return;
    const auto by_bytes = [](const auto& one, const auto& other) {
        return one.second.bytes < other.second.bytes;
    };
    forget_names(std::ranges::max_element(processes_, by_bytes)->second);
}

const V8Names::Names& V8Names::unnamed(V8Problem problem) {
    static const auto make = [](uint64_t address, const char* text) {
        Name name;
        name.file = no_file;
        name.address = address;
        name.frame.function = text;
        return Names{std::move(name)};
    };
    static const std::array<Names, causes> names = {
        make(1, "[javascript: unreadable]"),
        make(2, "[javascript: gone before its name was read]"),
        make(3, "[javascript: its memory could not be read in time]"),
    };
    const Missing cause = problem == V8Problem::gone   ? Missing::gone
                          : problem == V8Problem::late ? Missing::late
                                                       : Missing::unreadable;
    missing_[static_cast<size_t>(cause)]++;
    return names[static_cast<size_t>(cause)];
}

template <typename Answer, typename Work>
std::variant<Answer, V8Problem> V8Names::in_time(Process& process, pid_t pid, Work work) {
    if (clock_ns() < process.spared_until_ns)
        return V8Problem::late;
    // Of both threads: should it be late, that one still writes.
    const auto answer = std::make_shared<std::variant<Answer, V8Problem>>();
    const bool done = run_in_time([answer, pid, work = std::move(work)] {
        const pid_t tid = living_thread(pid);
        const ReadMemory read = [tid](uint64_t from, void* bytes, size_t size) {
            return copy_process_memory(tid, from, bytes, size) ? MemoryRead::whole
                                                               : MemoryRead::unreadable;
        };
        *answer = work(read);
    });
    if (done)
        return std::move(*answer);
    process.spared_ns = std::clamp(2 * process.spared_ns, shortest_rest_ns, longest_rest_ns);
    process.spared_until_ns = clock_ns() + process.spared_ns;
    return V8Problem::late;
}

std::variant<const V8Lines*, V8Problem> V8Names::lines_of(Process& process, pid_t pid,
                                                          const V8Script& script) {
    if (const auto known = process.scripts.find(script); known != process.scripts.end())
        return &known->second;
    auto answer =
        in_time<V8Lines>(process, pid, [layout = process.layout, script](const ReadMemory& read) {
            return read_v8_lines(read, *layout, script);
        });
    if (const auto* const problem = std::get_if<V8Problem>(&answer))
        return *problem;
    V8Lines& lines = std::get<V8Lines>(answer);
    count(process,
          sizeof script + sizeof lines + bytes_of_entry + lines.ends.capacity() * sizeof(uint32_t));
    return &process.scripts.emplace(script, std::move(lines)).first->second;
}

std::variant<V8Names::Names, V8Problem> V8Names::read(Process& process, pid_t pid,
                                                      const V8FrameWords& words) {
    using Functions = std::vector<V8Function>;
    const auto answer =
        in_time<Functions>(process, pid, [layout = process.layout, words](const ReadMemory& read) {
            return read_v8_frame(read, *layout, words);
        });
    if (const auto* const problem = std::get_if<V8Problem>(&answer))
        return *problem;
    Names names;
    for (const V8Function& function : std::get<Functions>(answer)) {
        if (!function.script) {
            names.push_back(name_script_function(function, {}));
            continue;
        }
        const auto lines = lines_of(process, pid, *function.script);
        if (const auto* const problem = std::get_if<V8Problem>(&lines))
            return *problem;
        names.push_back(name_script_function(function, *std::get<const V8Lines*>(lines)));
    }
    return names;
}

const V8Names::Names& V8Names::names(pid_t pid, const V8FrameWords& words) {
    const auto found = processes_.find(pid);
    if (found == processes_.end() || !found->second.layout)
        return unnamed(V8Problem::unreadable);
    Process& process = found->second;
    if (const auto known = process.names.find(words); known != process.names.end())
        return known->second;
    make_room(process);
    auto answer = read(process, pid, words);
    if (const auto* const problem = std::get_if<V8Problem>(&answer))
        return unnamed(*problem);
    const Names& names =
        process.names.emplace(words, std::get<Names>(std::move(answer))).first->second;
    size_t bytes = sizeof words + sizeof names + bytes_of_entry;
    for (const Name& name : names)
        bytes += sizeof name + name.file.capacity() + name.frame.function.capacity() +
                 name.frame.file.capacity();
    count(process, bytes);
    return names;
}

} // namespace auger
