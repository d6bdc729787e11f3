// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/python_names.h"

#include "bpf/unwind_table.h"
#include "loader/base/read_clock.h"
#include "loader/kernel/clock.h"
#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"
#include "loader/runtimes/python/line_table.h"

#include <algorithm>
#include <string_view>
#include <variant>

namespace auger {

namespace {

constexpr size_t hashed = 64; // bytes of an entry besides what it holds
// How long a process is left alone whose memory could not be read in time: twice as long each time.
constexpr uint64_t shortest_pause_ns = second_ns, longest_pause_ns = 64 * second_ns;

// FNV-1a: the same in every process, so that recordings of several machines agree.
uint64_t hash_of(std::string_view text, uint64_t hash = 0xcbf29ce484222325) {
    for (const char byte : text)
        hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    return hash;
}

PythonNames::Name make_name(const PythonCode& code, uint32_t offset) {
    PythonNames::Name name;
    name.file = code.file.empty() ? "[python]" : code.file;
    name.frame.function = code.function;
    name.frame.file = code.file;
    name.frame.line = offset == WIRE_PYTHON_NO_OFFSET
                          ? code.first_line
                          : python_line(code.lines, code.first_line, offset);
    const std::array<uint32_t, 2> lines = {code.first_line, name.frame.line};
    name.address = hash_of({reinterpret_cast<const char*>(lines.data()), sizeof lines},
                           hash_of(code.function));
    return name;
}

} // namespace

size_t PythonNames::KeyHash::operator()(const Key& key) const noexcept {
    return (key.first ^ key.second * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 7;
}

void PythonNames::set_layout(pid_t pid, uint64_t executed_ns,
                             std::shared_ptr<const PythonLayout> layout) {
    Process& process = processes_[pid];
    if (process.layout == layout && process.executed_ns == executed_ns && !process.ended)
        return;
    forget_names(process);
    process = {};
    process.executed_ns = executed_ns;
    process.layout = std::move(layout);
}

void PythonNames::end(pid_t pid) {
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

void PythonNames::count(Process& process, size_t bytes) {
    process.bytes += bytes;
    bytes_ += bytes;
}

void PythonNames::forget_names(Process& process) {
    process.codes.clear();
    process.names.clear();
    bytes_ -= process.bytes;
    process.bytes = 0;
}

void PythonNames::make_room(Process& process) {
    if (process.bytes >= most_bytes_of_process)
        forget_names(process);
    if (bytes_ < most_bytes)
        return;
    const auto by_bytes = [](const auto& one, const auto& other) {
        return one.second.bytes < other.second.bytes;
    };
    forget_names(std::ranges::max_element(processes_, by_bytes)->second);
}

const PythonNames::Name& PythonNames::unnamed(Missing cause) {
    static const auto make = [](uint64_t address, const char* text) {
        Name name;
        name.file = "[python]";
        name.address = address;
        name.frame.function = text;
        return name;
    };
    static const std::array<Name, causes> names = {
        make(1, "[python: unreadable]"),
        make(2, "[python: gone before its name was read]"),
        make(3, "[python: its memory could not be read in time]"),
    };
    missing_[static_cast<size_t>(cause)]++;
    return names[static_cast<size_t>(cause)];
}

const PythonCode* PythonNames::code_of(Process& process, pid_t pid, uint64_t address,
                                       uint32_t cookie, Missing& missing) {
    const Key key{address, cookie};
    if (const auto known = process.codes.find(key); known != process.codes.end())
        return &known->second;
    const uint64_t now = clock_ns();
    if (now < process.spared_until_ns) {
        missing = Missing::late;
        return nullptr;
    }
    // Of both threads: should it be late, that one still writes.
    const auto answer = std::make_shared<std::variant<PythonCode, PythonCodeProblem>>();
    const bool in_time = run_in_time([answer, layout = process.layout, pid, address, cookie] {
        const pid_t tid = living_thread(pid);
        const auto read = [tid](uint64_t from, void* bytes, size_t size) {
            return copy_process_memory(tid, from, bytes, size) ? MemoryRead::whole
                                                               : MemoryRead::unreadable;
        };
        *answer = read_python_code(read, *layout, address, cookie);
    });
    if (!in_time) {
        process.spared_ns = std::clamp(2 * process.spared_ns, shortest_pause_ns, longest_pause_ns);
        process.spared_until_ns = clock_ns() + process.spared_ns;
        missing = Missing::late;
        return nullptr;
    }
    if (auto* whole = std::get_if<PythonCode>(answer.get())) {
        count(process, sizeof(PythonCode) + hashed + whole->function.capacity() +
                           whole->file.capacity() + whole->lines.capacity());
        return &process.codes.emplace(key, std::move(*whole)).first->second;
    }
    missing = std::get<PythonCodeProblem>(*answer) == PythonCodeProblem::gone ? Missing::gone
                                                                              : Missing::unreadable;
    return nullptr;
}

const PythonNames::Name& PythonNames::name(pid_t pid, uint64_t first, uint64_t second) {
    const auto process = processes_.find(pid);
    if (process == processes_.end())
        return unnamed(Missing::unreadable);
    auto& names = process->second.names;
    const Key key{first, second};
    if (const auto known = names.find(key); known != names.end())
        return known->second;
    make_room(process->second);
    Missing missing = Missing::unreadable;
    const PythonCode* code = code_of(process->second, pid, first & ~WIRE_FRAME_PYTHON,
                                     static_cast<uint32_t>(second), missing);
    if (!code)
        return unnamed(missing);
    const Name& name =
        names.emplace(key, make_name(*code, static_cast<uint32_t>(second >> 32))).first->second;
    count(process->second, sizeof(Name) + hashed + name.file.capacity() +
                               name.frame.function.capacity() + name.frame.file.capacity());
    return name;
}

} // namespace auger
