// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/line_match.h"

#include "loader/probes/edit_distance.h"
#include "loader/probes/module_name.h"
#include "loader/reader/matching/function_place.h"
#include "loader/reader/names/demangle.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <variant>

namespace auger {
namespace {

constexpr size_t listed_files = 5;

// What the modules of one kind (main programs, or libraries) know of the pattern's file.
struct LineSearch {
    const ProbePattern& pattern;
    std::vector<LineInModule> lines;   // also without code
    std::vector<std::string> files;    // base names of all that were looked at
    std::optional<Error> unreadable{}; // why the first module has no lines

    void look_into(size_t number, const ProbeModule& module) {
        if (!module.debug || !module.searched)
            return;
        const auto& table = module.debug->lines();
        if (!table) {
            if (!unreadable)
                unreadable = table.error();
            return;
        }
        for (SourceFileId file = 0; file < (*table)->files(); ++file)
            files.emplace_back(file_base_name((*table)->path(file)));
        for (SourceFileId file : (*table)->files_named(pattern.file)) {
            const SourceLine line{file, pattern.line};
            lines.push_back({number, *table, line, (*table)->blocks(line)});
        }
    }
};

Error no_such_file(const LineSearch& search) {
    if (search.files.empty()) {
        if (search.unreadable)
            return not_found(search.pattern, search.unreadable->cause, search.unreadable->hint);
        return not_found(search.pattern, "the target has no line information",
                         "compile it with -g");
    }
    const std::string base(file_base_name(search.pattern.file));
    std::vector<std::string> near = near_names(base, search.files);
    // Of the same name, but in another folder.
    const bool elsewhere =
        std::find(search.files.begin(), search.files.end(), base) != search.files.end();
    if (elsewhere)
        return not_found(search.pattern, "no source file has this path",
                         "there is " + base + " in another folder");
    return not_found(search.pattern, "no source file has this name",
                     near.empty() ? "" : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

Error no_code(const ProbePattern& pattern, const std::vector<LineInModule>& lines) {
    std::set<uint32_t> near;
    for (const LineInModule& line : lines) {
        const auto [before, after] = line.table->nearest(line.line);
        near.insert({before, after});
    }
    near.erase(0);
    return not_found(
        pattern, fmt::format("no code begins on line {}", pattern.line),
        near.empty() ? "" : fmt::format("the nearest lines with code: {}", fmt::join(near, ", ")));
}

} // namespace

std::string_view file_base_name(std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == path.npos ? path : path.substr(slash + 1);
}

Result<std::vector<LineInModule>> find_line(const ProbePattern& pattern,
                                            std::span<const ProbeModule> modules, bool& absent) {
    LineSearch search{pattern, {}, {}};
    for (const bool main_programs : {true, false}) {
        for (size_t i = 0; i < modules.size(); ++i)
            if (modules[i].main_program == main_programs)
                search.look_into(i, modules[i]);
        if (!search.lines.empty())
            break;
    }
    absent = search.lines.empty();
    if (absent)
        return no_such_file(search);
    std::vector<LineInModule> all = search.lines;
    std::erase_if(search.lines, [](const LineInModule& line) { return line.blocks.empty(); });
    if (search.lines.empty())
        return no_code(pattern, all);
    return std::move(search.lines);
}

std::vector<std::string> file_notes(const ProbePattern& pattern,
                                    std::span<const LineInModule> lines) {
    std::set<std::string> paths;
    for (const LineInModule& line : lines)
        paths.insert(line.table->path(line.line.file));
    if (paths.size() < 2)
        return {};
    const size_t count = paths.size();
    while (paths.size() > listed_files)
        paths.erase(std::prev(paths.end()));
    return {fmt::format("{} stands for {} files: {}; more of the path says which", pattern.file,
                        count, fmt::join(paths, ", "))};
}

Result<ProbeMatches> match_line(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                const MatchOptions& options, bool& absent) {
    auto lines = find_line(pattern, modules, absent);
    if (!lines)
        return lines.error();
    ProbeMatches result;
    result.notes = file_notes(pattern, *lines);
    const std::string place = fmt::format("{}:{}", file_base_name(pattern.file), pattern.line);
    std::vector<LineInModule> without;
    for (const LineInModule& line : *lines) {
        const FunctionIndex& index = *modules[line.module].index;
        bool any = false;
        for (const LineBlock& block : line.blocks) {
            if (!block.statement)
                continue;
            any = true;
            const FunctionIndex::Function* function = index.containing(*block.statement);
            if (!function) {
                result.skipped.push_back({line.module, place,
                                          fmt::format("its code at {:#x} belongs to no known "
                                                      "function",
                                                      *block.statement)});
                continue;
            }
            const FunctionCandidate candidate{line.module, function, index.best_name(*function)};
            PlaceOutcome outcome =
                place_instruction(candidate, modules[line.module],
                                  *block.statement - function->address, PlaceKind::line);
            if (auto* skipped = std::get_if<SkippedPlace>(&outcome)) {
                result.skipped.push_back(std::move(*skipped));
                continue;
            }
            PlaceMatch& match = std::get<PlaceMatch>(outcome);
            match.name = fmt::format("{} in {}", place, match.name);
            match.file_offset = match.entry.file_offset;
            result.places.push_back(std::move(match));
        }
        if (!any)
            without.push_back(line);
    }
    if (result.places.empty() && result.skipped.empty())
        return no_code(pattern, without);
    if (result.places.size() > options.limit)
        return not_found(pattern,
                         fmt::format("the line has {} copies, more than the limit of {}",
                                     result.places.size(), options.limit),
                         {});
    if (result.places.size() > 1)
        result.notes.push_back(
            fmt::format("the line has {} copies of its code", result.places.size()));
    return result;
}

} // namespace auger
