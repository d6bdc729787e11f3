// SPDX-License-Identifier: GPL-3.0-or-later
// What the user may have meant, and what the user may go on to write: both read every name once.
#include "loader/probes/edit_distance.h"
#include "loader/probes/function_names.h"
#include "loader/reader/matching/name_matcher.h"
#include "loader/reader/matching/probe_match.h"
#include "loader/reader/matching/usdt_match.h"
#include "loader/reader/names/demangle.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace auger {
namespace {

constexpr size_t name_limit = 400'000; // names looked at, over all modules
constexpr size_t long_name = 200;      // bytes; longer names are nobody's typing mistake
constexpr size_t telling_part = 3;     // bytes; shorter texts are part of too many names

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Whether `name` holds `part`, case ignored: at its start, further on, or not.
enum class Holds { at_start, inside, no };
Holds holds(std::string_view name, std::string_view part) {
    const auto found = std::search(name.begin(), name.end(), part.begin(), part.end(),
                                   [](char a, char b) { return lower(a) == lower(b); });
    return found == name.end()     ? Holds::no
           : found == name.begin() ? Holds::at_start
                                   : Holds::inside;
}

// Calls `use(module, demangled name without parameters)` once per function until it returns false.
template <typename Use>
void for_each_name(std::span<const ProbeModule> modules, std::string_view library, Use use) {
    size_t looked = 0;
    for (const ProbeModule& module : modules) {
        if (!library.empty() && !is_library(library, module))
            continue;
        for (const FunctionIndex::Function& function : module.index->functions()) {
            for (const ElfFunction& symbol : module.index->names(function)) {
                if (++looked > name_limit)
                    return;
                CloneName clone = split_clone_name(symbol.name);
                if (clone.kind == CloneKind::none && clone.base.size() <= demangle_output_limit)
                    use(module, clone.base);
            }
        }
    }
}

// Of a coroutine, the parts that there are where another one is asked for: compilers differ.
std::vector<std::string> other_parts(const ProbePattern& pattern,
                                     std::span<const ProbeModule> modules) {
    std::vector<std::string> found;
    for (const std::string_view part : coroutine_parts) {
        ProbePattern other = pattern;
        other.coroutine_part = part;
        const NameMatcher matcher(other);
        const auto has_it = [&](const ProbeModule& module) {
            return (pattern.library.empty() || is_library(pattern.library, module)) &&
                   std::ranges::any_of(
                       module.index->functions(), [&](const FunctionIndex::Function& function) {
                           return std::ranges::any_of(module.index->names(function),
                                                      [&](const ElfFunction& symbol) {
                                                          return matcher.matches(symbol.name);
                                                      });
                       });
        };
        if (part != pattern.coroutine_part && std::ranges::any_of(modules, has_it))
            found.push_back(fmt::format("{} [clone .{}]", pattern.function, part));
    }
    return found;
}

} // namespace

std::vector<std::string> near_matches(const ProbePattern& pattern,
                                      std::span<const ProbeModule> modules, size_t limit) {
    if (pattern.function.empty() || pattern.function_is_glob)
        return {};
    if (!pattern.coroutine_part.empty())
        if (auto parts = other_parts(pattern, modules); !parts.empty())
            return parts;
    std::string stripped = strip_template_arguments(normalise_spaces(pattern.function));
    std::string full = stripped.substr(0, stripped.find('('));
    std::string last(unqualified(full));
    if (last.empty() || full.size() > long_name)
        return {};
    size_t allowed = std::max<size_t>(1, last.size() / 3);

    // First what a typing mistake explains, then names of which a part was given: those of the main
    // program, and those that begin with it, before others. The whole name breaks ties.
    using Found = std::tuple<size_t, size_t, bool, std::string>;
    std::set<Found> best;
    for_each_name(
        modules, pattern.library, [&](const ProbeModule& module, std::string_view symbol) {
            // A mangled name holds its last component with few exceptions, so a short one cannot
            // hold what is wanted; demangling is what costs.
            if (symbol.size() + allowed < last.size())
                return;
            std::string name = strip_template_arguments(demangle_without_parameters(symbol));
            if (name.size() > long_name)
                return;
            size_t distance = edit_distance(last, unqualified(name), allowed);
            if (distance > allowed) {
                Holds part =
                    last.size() < telling_part ? Holds::no : holds(unqualified(name), last);
                if (part == Holds::no)
                    return;
                distance = allowed + 1 + (part == Holds::inside) + 2 * !module.main_program;
            }
            size_t whole = edit_distance(full, name, long_name);
            best.emplace(distance, whole, !module.main_program, std::move(name));
            if (best.size() > 4 * limit)
                best.erase(std::prev(best.end()));
        });
    std::vector<std::string> names;
    for (const Found& found : best) {
        const std::string& name = std::get<std::string>(found);
        if (names.size() < limit && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
    return names;
}

std::vector<std::string> complete_function(std::string_view text,
                                           std::span<const ProbeModule> modules, size_t limit) {
    if (text.starts_with("usdt:"))
        return complete_usdt(text, modules, limit);
    std::string library;
    std::string_view prefix = text;
    // `libc:re`; a pair of colons belongs to the name.
    size_t colon = text.find(':');
    if (colon != text.npos && (colon + 1 == text.size() || text[colon + 1] != ':')) {
        library = text.substr(0, colon);
        prefix = text.substr(colon + 1);
    }
    std::set<std::string> names;
    for_each_name(modules, library, [&](const ProbeModule&, std::string_view symbol) {
        bool encoded = symbol.starts_with("_Z") || symbol.starts_with("_R");
        if (!encoded && !symbol.starts_with(prefix))
            return;
        std::string name = demangle_without_parameters(symbol);
        if (!name.starts_with(prefix))
            return;
        names.insert(library.empty() ? name : library + ":" + name);
        if (names.size() > limit)
            names.erase(std::prev(names.end()));
    });
    return {names.begin(), names.end()};
}

} // namespace auger
