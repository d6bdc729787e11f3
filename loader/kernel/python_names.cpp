// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/python_names.h"

#include "bpf/unwind_table.h"
#include "loader/runtimes/python/line_table.h"

#include <string_view>
#include <utility>
#include <variant>

namespace auger {

namespace {

constexpr size_t hashed = 64; // bytes of an entry besides what it holds

PythonNames::Name make_name(const PythonCode& code, uint32_t offset) {
    PythonNames::Name name;
    name.file = code.file.empty() ? "[python]" : code.file;
    name.frame.function = code.function;
    name.frame.file = code.file;
    name.frame.line = offset == WIRE_PYTHON_NO_OFFSET
                          ? code.first_line
                          : python_line(code.lines, code.first_line, offset);
    const std::array<uint32_t, 2> lines = {code.first_line, name.frame.line};
    name.address = add_to_hash(add_to_hash(empty_hash, code.function),
                               {reinterpret_cast<const char*>(lines.data()), sizeof lines});
    return name;
}

} // namespace

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

const PythonCode* PythonNames::code_of(Processes::Process& process, pid_t pid, uint64_t address,
                                       uint32_t cookie, Missing& missing) {
    auto& codes = process.known.codes;
    const FrameKey key{address, cookie};
    if (const auto known = codes.find(key); known != codes.end())
        return &known->second;
    auto answer = processes_.read(
        process, pid, [address, cookie](const ReadMemory& memory, const PythonLayout& layout) {
            return read_python_code(memory, layout, address, cookie);
        });
    if (!answer) {
        missing = Missing::late;
        return nullptr;
    }
    if (auto* whole = std::get_if<PythonCode>(&*answer)) {
        processes_.count(process, sizeof(PythonCode) + hashed + whole->function.capacity() +
                                      whole->file.capacity() + whole->lines.capacity());
        return &codes.emplace(key, std::move(*whole)).first->second;
    }
    missing = std::get<PythonCodeProblem>(*answer) == PythonCodeProblem::gone ? Missing::gone
                                                                              : Missing::unreadable;
    return nullptr;
}

const PythonNames::Name& PythonNames::name(pid_t pid, uint64_t first, uint64_t second) {
    Processes::Process* const process = processes_.find(pid);
    if (!process)
        return unnamed(Missing::unreadable);
    auto& names = process->known.names;
    const FrameKey key{first, second};
    if (const auto known = names.find(key); known != names.end())
        return known->second;
    processes_.make_room(*process);
    Missing missing = Missing::unreadable;
    const PythonCode* code = code_of(*process, pid, first & ~WIRE_FRAME_PYTHON,
                                     static_cast<uint32_t>(second), missing);
    if (!code)
        return unnamed(missing);
    const Name& name =
        names.emplace(key, make_name(*code, static_cast<uint32_t>(second >> 32))).first->second;
    processes_.count(*process, sizeof(Name) + hashed + name.file.capacity() +
                                   name.frame.function.capacity() + name.frame.file.capacity());
    return name;
}

} // namespace auger
