// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/usdt_match.h"

#include "loader/probes/edit_distance.h"
#include "loader/probes/module_name.h"
#include "loader/reader/code/decoder.h"
#include "loader/reader/elf/usdt_notes.h"
#include "loader/reader/matching/function_place.h"
#include "loader/reader/names/demangle.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <variant>

namespace auger {
namespace {

constexpr size_t longest_nop = 15; // bytes, of any instruction

std::string name_of(const UsdtNote& note) {
    return fmt::format("usdt:{}:{}", note.provider, note.name);
}

// The second number of "python3.11", "libpython3.12.so.1.0"; nothing where there is none.
std::optional<unsigned> python_minor(std::string_view base_name) {
    constexpr std::string_view before = "python3.";
    const size_t at = base_name.find(before);
    unsigned minor = 0;
    if (at == base_name.npos)
        return std::nullopt;
    const char* first = base_name.data() + at + before.size();
    const auto [end, error] = std::from_chars(first, base_name.data() + base_name.size(), minor);
    return error == std::errc() && end != first ? std::optional(minor) : std::nullopt;
}

// Why who attaches to it does harm, or finds nothing; empty: no such thing is known.
std::string known_harm(const UsdtNote& note, std::string_view base_name) {
    if (note.provider != "python")
        return {};
    const bool of_lines = note.name == "line";
    if (!of_lines && note.name != "function__entry" && note.name != "function__return")
        return {};
    constexpr unsigned first_broken = 11, last_broken = 14;
    const auto minor = python_minor(base_name);
    if (minor && (*minor < first_broken || *minor > last_broken))
        return {};
    return fmt::format("CPython 3.{} to 3.{} {} (its issue 98894)", first_broken, last_broken,
                       of_lines ? "crashes when it is attached" : "does not reach it");
}

class UsdtPlacing {
  public:
    UsdtPlacing(size_t number, const ProbeModule& module)
        : number_(number), module_(module), file_(module.index->file()) {}

    PlaceOutcome place(const UsdtNote& note) const {
        const std::string name = name_of(note);
        const auto skip = [&](std::string reason) {
            return SkippedPlace{number_, name, std::move(reason)};
        };
        if (std::string harm = known_harm(note, module_base_name(module_.path)); !harm.empty())
            return skip(std::move(harm));
        const auto offset = file_.offset_of_address(note.address);
        if (!offset || !file_.is_executable(note.address))
            return skip(fmt::format("{:#x}, where its note says it is, is no code", note.address));
        const auto code = file_.read_code(note.address, longest_nop);
        const auto instruction = decode(code, note.address);
        if (!instruction || !instruction->nop)
            return skip(fmt::format("there is no nop at {:#x}, where its note says", note.address));
        PlaceOutcome outcome = in_function(note, *offset, *instruction);
        if (auto* skipped = std::get_if<SkippedPlace>(&outcome))
            return skip(fmt::format("in {}: {}", skipped->name, skipped->reason));
        PlaceMatch& match = std::get<PlaceMatch>(outcome);
        match.address = note.address;
        match.file_offset = *offset;
        match.name = match.name.empty() ? name : fmt::format("{} in {}", name, match.name);
        match.usdt = UsdtSite{std::string(note.provider), std::string(note.name),
                              std::string(note.arguments), 0};
        if (!note.semaphore)
            return outcome;
        const auto semaphore = file_.offset_of_address(*note.semaphore);
        if (!semaphore || *semaphore % sizeof(uint16_t) != 0 ||
            file_.is_executable(*note.semaphore))
            return skip(fmt::format("its semaphore at {:#x} is no variable of the file's",
                                    *note.semaphore));
        match.usdt->semaphore = *semaphore;
        return outcome;
    }

  private:
    // A function that is known is looked at as a whole, so that the site is an instruction of its.
    PlaceOutcome in_function(const UsdtNote& note, uint64_t offset,
                             const Instruction& instruction) const {
        if (const auto* function = module_.index->containing(note.address))
            return place_instruction({number_, function, module_.index->best_name(*function)},
                                     module_, note.address - function->address, PlaceKind::usdt);
        if (instruction.nop5)
            return SkippedPlace{number_, "code without a name", nop5_refusal(note.address)};
        PlaceMatch match{};
        match.kind = PlaceKind::usdt;
        match.module = number_;
        match.entry = {note.address, offset, instruction.cost};
        return match;
    }

    static std::string nop5_refusal(uint64_t address) {
        return fmt::format("a probe on the 5-byte nop at {:#x} could overwrite data on its stack",
                           address);
    }

    const size_t number_;
    const ProbeModule& module_;
    const ElfFile& file_;
};

Error no_such_usdt(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                   const MatchOptions& options) {
    if (!options.explain)
        return not_found(pattern, "no such USDT probe");
    bool any_library = pattern.library.empty();
    std::set<std::string> all, libraries;
    for (const ProbeModule& module : modules) {
        const bool meant = pattern.library.empty() || is_library(pattern.library, module);
        any_library |= meant;
        const UsdtNotes notes(module.index->file());
        if (!notes.all().empty())
            libraries.emplace(module_base_name(module.path));
        for (const UsdtNote& note : notes.all())
            if (meant && all.size() < most_usdt_notes)
                all.insert(fmt::format("{}:{}", note.provider, note.name));
    }
    if (!any_library)
        return not_found(pattern, "no mapped file is named " + pattern.library,
                         libraries.empty()
                             ? ""
                             : fmt::format("USDT probes are in {}", fmt::join(libraries, ", ")));
    if (all.empty())
        return not_found(pattern,
                         fmt::format("{} no USDT probes", pattern.library.empty()
                                                              ? "the target's files have"
                                                              : pattern.library + " has"),
                         "programs are often built without them; \"probes usdt\" lists those that "
                         "there are");
    const auto near = near_names(fmt::format("{}:{}", pattern.provider, pattern.function),
                                 std::vector<std::string>(all.begin(), all.end()));
    return not_found(pattern, "no such USDT probe",
                     near.empty() || pattern.function_is_glob
                         ? "\"probes usdt\" lists those that there are"
                         : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

} // namespace

Result<ProbeMatches> match_usdt(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                const MatchOptions& options, bool& absent) {
    ProbeMatches result;
    absent = false;
    for (size_t i = 0; i < modules.size(); ++i) {
        const ProbeModule& module = modules[i];
        if (!module.searched || (!pattern.library.empty() && !is_library(pattern.library, module)))
            continue;
        const UsdtNotes notes(module.index->file());
        const UsdtPlacing placing(i, module);
        std::set<std::tuple<uint64_t, std::string_view, std::string_view>> placed;
        for (const UsdtNote& note : notes.all()) {
            if (!glob_match(pattern.provider, note.provider) ||
                !glob_match(pattern.function, note.name) ||
                !placed.emplace(note.address, note.provider, note.name).second)
                continue;
            if (result.places.size() + result.skipped.size() >= options.limit)
                return not_found(pattern,
                                 fmt::format("has more sites than the limit of {}", options.limit),
                                 "write a narrower pattern");
            PlaceOutcome outcome = placing.place(note);
            if (auto* skipped = std::get_if<SkippedPlace>(&outcome))
                result.skipped.push_back(std::move(*skipped));
            else
                result.places.push_back(std::move(std::get<PlaceMatch>(outcome)));
        }
    }
    absent = result.places.empty() && result.skipped.empty();
    if (absent)
        return no_such_usdt(pattern, modules, options);
    std::ranges::stable_sort(result.places, {}, [](const PlaceMatch& place) {
        return std::pair(place.module, place.address);
    });
    return result;
}

std::vector<std::string> complete_usdt(std::string_view text, std::span<const ProbeModule> modules,
                                       size_t limit) {
    // A library is what is in front of two colons.
    std::string_view rest = text.substr(text.find(':') + 1), library;
    if (std::ranges::count(rest, ':') > 1) {
        const size_t name_at = rest.rfind(':');
        library = rest.substr(0, rest.rfind(':', name_at - 1));
    }
    std::set<std::string> names;
    const auto add = [&](const std::string& name) {
        if (name.starts_with(text))
            names.insert(name);
        if (names.size() > limit)
            names.erase(std::prev(names.end()));
    };
    for (const ProbeModule& module : modules) {
        if (!library.empty() && !is_library(library, module))
            continue;
        const UsdtNotes notes(module.index->file());
        const std::string stem(module_stem(module_base_name(module.path)));
        for (const UsdtNote& note : notes.all()) {
            add(name_of(note));
            if (rest.find(':') != rest.npos)
                add(fmt::format("usdt:{}:{}:{}", library.empty() ? stem : std::string(library),
                                note.provider, note.name));
        }
    }
    return {names.begin(), names.end()};
}

} // namespace auger
