// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/perl_names.h"

#include "loader/kernel/function_names.h"

#include <memory>
#include <optional>
#include <utility>
#include <variant>

namespace auger {

namespace {

FunctionName name_of_perl_frame(PerlFrame frame) {
    FunctionName name;
    name.file = frame.file.empty() ? "[perl]" : frame.file;
    name.address = hash_of_function(frame.name, 0, frame.line);
    name.frame.function = std::move(frame.name);
    name.frame.file = std::move(frame.file);
    name.frame.line = frame.line;
    return name;
}

size_t bytes_of_perl_name(const FunctionName& name) {
    constexpr size_t entry_bytes = 64; // besides what it holds
    return sizeof(PerlFrameWords) + sizeof name + entry_bytes + name.file.capacity() +
           name.frame.function.capacity() + name.frame.file.capacity();
}

} // namespace

size_t PerlNames::WordsHash::operator()(const PerlFrameWords& words) const noexcept {
    const uint64_t executed = words.first ^ words.second * 0x9e3779b97f4a7c15;
    const uint64_t place = words.place ^ words.place_second * 0x9e3779b97f4a7c15;
    return (executed ^ place * 0xc2b2ae3d27d4eb4f) * 0xff51afd7ed558ccd >> 7;
}

void PerlNames::set_process(pid_t pid, uint64_t executed_ns, const Process& process) {
    // What is known stays when it is said again.
    const auto* const known = processes_.find(pid);
    const bool is_known = known && known->layout && *known->layout == process;
    processes_.set_layout(pid, executed_ns,
                          is_known ? known->layout : std::make_shared<const Process>(process));
}

const PerlCode* PerlNames::code(pid_t pid) {
    const auto* const known = processes_.find(pid);
    return known && known->layout ? &known->layout->code : nullptr;
}

const PerlNames::Name& PerlNames::name(pid_t pid, const PerlFrameWords& words) {
    Processes::Process* const process = processes_.find(pid);
    if (!process)
        return unnamed_.one(FunctionProblem::unreadable);
    if (const auto known = process->known.find(words); known != process->known.end())
        return known->second;
    processes_.make_room(*process);
    auto answer =
        processes_.read(*process, pid, [words](const ReadMemory& read, const Process& of) {
            return read_perl_frame(read, of.ops, words);
        });
    if (!answer)
        return unnamed_.one(FunctionProblem::late);
    if (const auto* const problem = std::get_if<FunctionProblem>(&*answer))
        return unnamed_.one(*problem);
    const Name& name =
        process->known.emplace(words, name_of_perl_frame(std::get<PerlFrame>(*std::move(answer))))
            .first->second;
    processes_.count(*process, bytes_of_perl_name(name));
    return name;
}

} // namespace auger
