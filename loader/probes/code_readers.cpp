// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_readers.h"

#include "loader/probes/find_in_files.h"

#include <algorithm>
#include <set>

namespace auger {

using code_messages::Kind;
using code_messages::Request;

CodeReaders::CodeReaders(std::shared_ptr<ConfinedProcesses> readers, GoOn go_on,
                         SwitchCache switches)
    : conversations_(std::move(readers), std::move(go_on)), switches_(std::move(switches)) {}

CodeReaders::Known& CodeReaders::known(const File& file) {
    std::erase_if(known_, [](const auto& entry) { return entry.first.expired(); });
    return known_[file];
}

Result<ProbeMatches> CodeReaders::find(const ProbePattern& pattern,
                                       std::span<const SearchedFile> files,
                                       const MatchOptions& options) {
    return find_in_files(conversations_, pattern, files, options);
}

AnswerTime CodeReaders::set_time(AnswerTime time) {
    const AnswerTime before = conversations_.time();
    conversations_.set_time(time);
    return before;
}

bool CodeReaders::take_interrupted() {
    return conversations_.take_interrupted();
}

std::vector<std::string> CodeReaders::complete(std::string_view text,
                                               std::span<const SearchedFile> files, size_t limit) {
    std::set<std::string> names;
    for (auto& [group, listed] : conversations_.list(files, false)) {
        if (conversations_.interrupted())
            break;
        Request request;
        request.kind = Kind::complete;
        request.text = text;
        request.limit = limit;
        const auto answer =
            conversations_.ask(group, listed, request, text.substr(0, text.find(':')));
        const auto found = answer ? code_messages::texts(*answer) : std::nullopt;
        if (found)
            names.insert(found->begin(), found->end());
    }
    std::vector<std::string> all(names.begin(), names.end());
    if (all.size() > limit)
        all.resize(limit);
    return all;
}

Result<std::string> CodeReaders::ask_of(const File& file, Kind kind, std::string text) {
    Request request;
    request.kind = kind;
    request.text = std::move(text);
    return conversations_.ask_of(FileGroup::of(*file), file, std::move(request));
}

template <typename Understand>
auto CodeReaders::told_of(const File& file, Kind kind, const Understand& understand,
                          std::string text)
    -> Result<typename decltype(understand(std::string_view()))::value_type> {
    const auto answer = ask_of(file, kind, std::move(text));
    if (!answer)
        return answer.error();
    auto told = understand(*answer);
    if (!told)
        return conversations_.nonsense(FileGroup::of(*file));
    return *std::move(told);
}

Result<std::vector<std::string>> CodeReaders::needed(const File& file) {
    return told_of(file, Kind::needed,
                   [](std::string_view answer) { return code_messages::texts(answer); });
}

Result<GoPlaces> CodeReaders::go_places(const File& file) {
    std::optional<GoPlaces>& places = known(file).go;
    if (places)
        return *places;
    auto told = told_of(file, Kind::go, [&](std::string_view answer) {
        auto found = code_messages::go(answer);
        const bool is_sound = found &&
                              (!found->goroutine_end || file->is_code(*found->goroutine_end)) &&
                              std::ranges::all_of(found->switches, [&](const GoSwitchPlace& place) {
                                  return file->is_code(place.offset);
                              });
        return is_sound ? found : std::nullopt;
    });
    if (told)
        places = *told;
    return told;
}

Result<ThreadLocalBlock> CodeReaders::thread_local_block(const File& file) {
    auto block = told_of(conversations_.known_as(file), Kind::block,
                         [](std::string_view answer) { return code_messages::block(answer); });
    if (block)
        block->segments = file->segments();
    return block;
}

Result<std::optional<ThreadVariable>> CodeReaders::thread_variable(const File& file,
                                                                   std::string_view name) {
    return told_of(
        file, Kind::variable,
        [](std::string_view answer) { return code_messages::variable(answer); }, std::string(name));
}

Result<UnwindFacts> CodeReaders::facts_of(const File& file) {
    std::optional<UnwindFacts>& facts = known(file).facts;
    if (facts)
        return *facts;
    auto told = told_of(file, Kind::facts,
                        [](std::string_view answer) { return code_messages::facts(answer); });
    if (told)
        facts = *told;
    return told;
}

Result<std::string> CodeReaders::switches_in(const File& file) {
    return switches_.switches_in(
        file, [&](std::span<const std::byte> record) -> Result<SwitchCache::Read> {
            const auto answer =
                ask_of(file, Kind::switches,
                       std::string(reinterpret_cast<const char*>(record.data()), record.size()));
            if (!answer)
                return answer.error();
            const auto read = code_messages::switches(*answer);
            if (!read)
                return conversations_.nonsense(FileGroup::of(*file));
            const auto fresh = std::as_bytes(std::span(read->record));
            return SwitchCache::Read{read->objection, {fresh.begin(), fresh.end()}};
        });
}

Result<std::optional<CallProgram>> CodeReaders::compile(const ProgramRequest& program,
                                                        const CalledFunction& function,
                                                        const Result<int32_t>& error_number) {
    Request request;
    request.kind = Kind::compile;
    request.text = function.name;
    request.program = program;
    request.usdt_arguments = function.usdt_arguments;
    request.tracepoint = function.tracepoint;
    request.address = function.address;
    if (error_number)
        request.error_number = *error_number;
    else
        request.no_error_number = error_number.error();
    // Of no file: what only root can have written.
    const FileGroup group = function.file ? FileGroup::of(*function.file) : FileGroup{};
    const auto answer = conversations_.ask_of(group, function.file, std::move(request));
    if (!answer)
        return answer.error();
    auto compiled = code_messages::program(*answer);
    // Of a call there is no record: what would be read is anywhere in the kernel's memory.
    const auto reads_record = [](const CallProgram& one) {
        return std::any_of(one.wire.fetch, one.wire.fetch + one.wire.fetches, is_of_record);
    };
    const bool is_sound = compiled && (function.tracepoint || !*compiled || !**compiled ||
                                       !reads_record(***compiled));
    if (!is_sound)
        return conversations_.nonsense(group);
    return *std::move(compiled);
}

void CodeReaders::forget_debug_information() {
    conversations_.forget_debug_information();
}

} // namespace auger
