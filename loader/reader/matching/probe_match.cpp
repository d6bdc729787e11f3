// SPDX-License-Identifier: GPL-3.0-or-later
// Finding names comes first and costs little; only what was found is read and analysed.
#include "loader/reader/matching/probe_match.h"

#include "loader/probes/module_name.h"
#include "loader/reader/matching/call_site_match.h"
#include "loader/reader/matching/function_place.h"
#include "loader/reader/matching/inlined_copies.h"
#include "loader/reader/matching/line_match.h"
#include "loader/reader/matching/name_matcher.h"
#include "loader/reader/matching/nameless_function.h"
#include "loader/reader/matching/usdt_match.h"
#include "loader/reader/names/demangle.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

namespace auger {
namespace {

std::string join(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

// Whether the user has named the C++ library: by its name, or a namespace of its.
bool names_standard_library(const ProbePattern& pattern) {
    constexpr std::string_view namespaces[] = {"std::", "__gnu_", "__cxxabiv1::", "_Z"};
    return !pattern.library.empty() || std::ranges::any_of(namespaces, [&](std::string_view name) {
        return pattern.function.starts_with(name);
    });
}

// A function of C++'s own namespaces. What the program calls its own may be called like many of
// them ("get", "size", "push_back").
bool is_of_standard_library(std::string_view mangled) {
    if (mangled.starts_with("_ZSt"))
        return true;
    if (!mangled.starts_with("_ZN"))
        return false;
    mangled.remove_prefix(mangled.starts_with("_ZNK") ? 4 : 3);
    // std itself; allocator, basic_string, string, istream, ostream, iostream have own letters.
    constexpr std::string_view letters = "tabsiod";
    if (mangled.size() > 1 && mangled[0] == 'S')
        return letters.find(mangled[1]) != letters.npos;
    mangled.remove_prefix(std::min(mangled.find_first_not_of("0123456789"), mangled.size()));
    return mangled.starts_with("__gnu_") || mangled.starts_with("__cxxabiv1");
}

// Functions of C++'s own namespaces that a library has are found by who names them only.
std::vector<FunctionCandidate> find_in(size_t number, const ProbeModule& module,
                                       const NameMatcher& matcher, bool standard_library) {
    std::vector<FunctionCandidate> found;
    for (const FunctionIndex::Function& function : module.index->functions()) {
        for (const ElfFunction& symbol : module.index->names(function)) {
            CloneName clone = split_clone_name(symbol.name);
            if (!standard_library && is_of_standard_library(clone.base))
                continue;
            if (clone.kind != CloneKind::cold && matcher.matches(clone.base)) {
                found.push_back({number, &function, symbol.name});
                break;
            }
        }
    }
    return found;
}

// Modules that the pattern speaks of, in the order in which they are searched.
std::vector<size_t> modules_of(const ProbePattern& pattern, std::span<const ProbeModule> modules) {
    std::vector<size_t> numbers;
    for (size_t i = 0; i < modules.size(); ++i) {
        if (modules[i].searched &&
            (pattern.library.empty() || is_library(pattern.library, modules[i])))
            numbers.push_back(i);
    }
    std::stable_partition(numbers.begin(), numbers.end(),
                          [&](size_t i) { return modules[i].main_program; });
    return numbers;
}

Error no_such_library(const ProbePattern& pattern, std::span<const ProbeModule> modules) {
    std::vector<std::string> names;
    for (const ProbeModule& module : modules)
        if (names.size() < 8)
            names.emplace_back(module_base_name(module.path));
    return not_found(pattern, "no mapped file is named " + pattern.library,
                     names.empty() ? "" : "mapped are " + join(names));
}

// What libraries have of the name in C++'s own namespaces, and how to name it; empty: nothing.
std::string named_in_standard_library(const ProbePattern& pattern,
                                      std::span<const ProbeModule> modules,
                                      const std::vector<size_t>& searched) {
    if (names_standard_library(pattern))
        return {};
    const NameMatcher matcher(pattern);
    for (size_t i : searched) {
        const auto found = find_in(i, modules[i], matcher, true);
        if (found.empty())
            continue;
        const std::string library(module_base_name(modules[i].path));
        return fmt::format("{} has {} of that name, {} among them: write {}:{} for them", library,
                           found.size(), demangle_without_parameters(found.front().symbol),
                           library.substr(0, library.find('.')), pattern.function);
    }
    return {};
}

Error no_such_function(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                       const std::vector<size_t>& searched, bool explain) {
    if (!explain)
        return not_found(pattern, "no such function", {});
    size_t copies = 0;
    size_t functions = 0;
    // A library that the program calls has some, though it may be somebody else's to search.
    for (const ProbeModule& module : modules)
        if (!module.searched && pattern.library.empty())
            functions += module.index->functions().size();
    for (size_t i : searched) {
        functions += modules[i].index->functions().size();
        if (modules[i].main_program || !pattern.library.empty())
            copies += count_inlined_copies(modules[i].index->file(), pattern);
    }
    if (copies > 0)
        return not_found(pattern,
                         fmt::format("exists only inlined ({} {}), so it has no entry to probe",
                                     copies, copies == 1 ? "copy" : "copies"),
                         "probe the function that it was inlined into");
    if (functions == 0)
        return not_found(pattern, "the program has no symbols",
                         "it is stripped: probe an address (0x...) or a library function");
    std::vector<std::string> hints;
    if (const std::string of_library = named_in_standard_library(pattern, modules, searched);
        !of_library.empty())
        hints.push_back(of_library);
    else if (const auto near = near_matches(pattern, modules); !near.empty())
        hints.push_back("did you mean " + join(near) + "?");
    std::string cause = "no such function";
    for (size_t i : searched) {
        const ProbeModule& module = modules[i];
        // With a debug file its symbols are there.
        if (module.index->symbols().has_symbols() ||
            (pattern.library.empty() && !module.main_program))
            continue;
        cause = fmt::format("no such function, as far as {} has names: it is stripped",
                            module_base_name(module.path));
        hints.push_back("its debug package has the names of all functions (NAME-dbgsym in Debian), "
                        "and --debuginfod fetches them");
        break;
    }
    return not_found(pattern, std::move(cause), fmt::format("{}", fmt::join(hints, "; ")));
}

// The candidate for an address, with the offset in its function.
Result<std::pair<FunctionCandidate, uint64_t>>
at_address(const ProbePattern& pattern, std::span<const ProbeModule> modules,
           const std::vector<size_t>& searched, std::optional<NamelessFunction>& nameless) {
    for (size_t i : searched) {
        if (pattern.library.empty() && !modules[i].main_program)
            continue;
        const FunctionIndex& index = *modules[i].index;
        if (const FunctionIndex::Function* function = index.containing(*pattern.address))
            return std::pair{FunctionCandidate{i, function, index.best_name(*function)},
                             *pattern.address - function->address};
        if ((nameless = find_nameless(modules[i], *pattern.address)))
            return std::pair{FunctionCandidate{i, &nameless->function, nameless->name},
                             *pattern.address - nameless->function.address};
    }
    return not_found(pattern, "no known function holds this address",
                     "addresses are as linked, not as mapped");
}

} // namespace

bool is_library(std::string_view wanted, const ProbeModule& module) {
    return module.named || module_matches(wanted, module.path);
}

Result<ProbeMatches> match_probe(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                 const MatchOptions& options) {
    bool absent = false;
    auto found = find_places(pattern, modules, options, absent);
    if (found && found->places.empty())
        return nothing_to_probe(found->skipped);
    return found;
}

Result<ProbeMatches> find_places(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                 const MatchOptions& options, bool& absent) {
    absent = false;
    if (pattern.usdt())
        return match_usdt(pattern, modules, options, absent);
    if (pattern.call_site)
        return match_call_sites(pattern, modules, options, absent);
    if (pattern.line)
        return match_line(pattern, modules, options, absent);
    std::vector<size_t> searched = modules_of(pattern, modules);
    if (searched.empty() && !pattern.library.empty()) {
        // The colon may be the name's own: Go's "type:.eq.main.T".
        ProbePattern whole = pattern;
        whole.function = pattern.library + ":" + pattern.function;
        whole.library.clear();
        if (!pattern.address && !pattern.library_is_path) {
            if (auto found = find_places(whole, modules, options, absent))
                return found;
        }
        absent = true;
        return no_such_library(pattern, modules);
    }

    std::vector<FunctionCandidate> candidates;
    std::optional<NamelessFunction> nameless; // that the candidate is
    uint64_t offset = pattern.offset;
    if (pattern.address) {
        auto found = at_address(pattern, modules, searched, nameless);
        absent = !found;
        if (!found)
            return found.error();
        candidates.push_back(found->first);
        offset = found->second;
    } else {
        NameMatcher matcher(pattern);
        for (size_t i : searched) {
            // The main program comes first and hides libraries, unless one is named.
            if (pattern.library.empty() && !modules[i].main_program && !candidates.empty() &&
                modules[candidates.front().module].main_program)
                break;
            std::vector<FunctionCandidate> found = find_in(
                i, modules[i], matcher, modules[i].main_program || names_standard_library(pattern));
            candidates.insert(candidates.end(), found.begin(), found.end());
        }
    }
    absent = candidates.empty();
    if (candidates.empty())
        return no_such_function(pattern, modules, searched, options.explain);
    if (candidates.size() > options.limit)
        return not_found(pattern,
                         fmt::format("matches {} functions, more than the limit of {}",
                                     candidates.size(), options.limit),
                         "write a narrower pattern");

    ProbeMatches result;
    std::vector<std::string> libraries;
    for (const FunctionCandidate& candidate : candidates) {
        const ProbeModule& module = modules[candidate.module];
        PlaceOutcome outcome =
            offset ? place_instruction(candidate, module, offset, PlaceKind::instruction)
                   : place_function(candidate, module);
        if (auto* skipped = std::get_if<SkippedPlace>(&outcome)) {
            result.skipped.push_back(std::move(*skipped));
            continue;
        }
        result.places.push_back(std::move(std::get<PlaceMatch>(outcome)));
        std::string file(module_base_name(module.path));
        if (!module.main_program &&
            std::find(libraries.begin(), libraries.end(), file) == libraries.end())
            libraries.push_back(std::move(file));
    }
    if (pattern.library.empty() && !libraries.empty())
        result.notes.push_back("found in " + join(libraries));
    return result;
}

} // namespace auger
