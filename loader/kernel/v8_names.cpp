// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/v8_names.h"

#include "bpf/unwind_table.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace auger {

namespace {

constexpr size_t bytes_of_entry = 64; // besides what it holds
constexpr std::string_view no_file = "[javascript]";

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
    name.address = add_to_hash(add_to_hash(add_to_hash(empty_hash, name.file), name.frame.function),
                               {reinterpret_cast<const char*>(places.data()), sizeof places});
    return name;
}

// Innermost first.
std::variant<std::vector<V8Function>, FunctionProblem>
read_v8_frame(const ReadMemory& read, const V8Layout& layout, const V8FrameWords& words) {
    const uint64_t shared = words.first & ~WIRE_FRAME_KIND;
    auto owner = read_v8_function(read, layout, shared, words.second);
    if (const auto* const problem = std::get_if<FunctionProblem>(&owner))
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
            if (const auto* const problem = std::get_if<FunctionProblem>(&one))
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

const V8Names::Names& V8Names::unnamed(FunctionProblem problem) {
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
    const Missing cause = problem == FunctionProblem::gone   ? Missing::gone
                          : problem == FunctionProblem::late ? Missing::late
                                                             : Missing::unreadable;
    missing_[static_cast<size_t>(cause)]++;
    return names[static_cast<size_t>(cause)];
}

std::variant<const V8Lines*, FunctionProblem> V8Names::lines_of(Processes::Process& process,
                                                                pid_t pid, const V8Script& script) {
    auto& scripts = process.known.scripts;
    if (const auto known = scripts.find(script); known != scripts.end())
        return &known->second;
    auto answer =
        processes_.read(process, pid, [script](const ReadMemory& read, const V8Layout& layout) {
            return read_v8_lines(read, layout, script);
        });
    if (!answer)
        return FunctionProblem::late;
    if (const auto* const problem = std::get_if<FunctionProblem>(&*answer))
        return *problem;
    V8Lines& lines = std::get<V8Lines>(*answer);
    processes_.count(process, sizeof script + sizeof lines + bytes_of_entry +
                                  lines.ends.capacity() * sizeof(uint32_t));
    return &scripts.emplace(script, std::move(lines)).first->second;
}

std::variant<V8Names::Names, FunctionProblem> V8Names::read(Processes::Process& process, pid_t pid,
                                                            const V8FrameWords& words) {
    const auto answer =
        processes_.read(process, pid, [words](const ReadMemory& read, const V8Layout& layout) {
            return read_v8_frame(read, layout, words);
        });
    if (!answer)
        return FunctionProblem::late;
    if (const auto* const problem = std::get_if<FunctionProblem>(&*answer))
        return *problem;
    Names names;
    for (const V8Function& function : std::get<std::vector<V8Function>>(*answer)) {
        if (!function.script) {
            names.push_back(name_script_function(function, {}));
            continue;
        }
        const auto lines = lines_of(process, pid, *function.script);
        if (const auto* const problem = std::get_if<FunctionProblem>(&lines))
            return *problem;
        names.push_back(name_script_function(function, *std::get<const V8Lines*>(lines)));
    }
    return names;
}

const V8Names::Names& V8Names::names(pid_t pid, const V8FrameWords& words) {
    Processes::Process* const process = processes_.find(pid);
    if (!process)
        return unnamed(FunctionProblem::unreadable);
    auto& known = process->known.names;
    if (const auto found = known.find(words); found != known.end())
        return found->second;
    processes_.make_room(*process);
    auto answer = read(*process, pid, words);
    if (const auto* const problem = std::get_if<FunctionProblem>(&answer))
        return unnamed(*problem);
    const Names& names = known.emplace(words, std::get<Names>(std::move(answer))).first->second;
    size_t bytes = sizeof words + sizeof names + bytes_of_entry;
    for (const Name& name : names)
        bytes += sizeof name + name.file.capacity() + name.frame.function.capacity() +
                 name.frame.file.capacity();
    processes_.count(*process, bytes);
    return names;
}

} // namespace auger
