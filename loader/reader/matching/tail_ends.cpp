// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/tail_ends.h"

#include "loader/reader/matching/function_place.h"
#include "loader/reader/matching/nameless_function.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace auger {
namespace {

constexpr size_t most_functions = 8; // that are jumped to, in all
constexpr size_t most_ends = 64;

// The function that begins there, as it can be probed.
std::optional<PlaceMatch> function_at(uint64_t address, size_t number, const ProbeModule& module) {
    const FunctionIndex& index = *module.index;
    FunctionCandidate candidate{number, index.containing(address), {}};
    std::optional<NamelessFunction> nameless;
    if (candidate.function) {
        candidate.symbol = index.best_name(*candidate.function);
    } else if ((nameless = find_nameless(module, address))) {
        candidate.function = &nameless->function;
        candidate.symbol = nameless->name;
    }
    if (!candidate.function || candidate.function->address != address)
        return std::nullopt;
    PlaceOutcome outcome = place_code(candidate, module);
    auto* const place = std::get_if<PlaceMatch>(&outcome);
    return place ? std::optional(std::move(*place)) : std::nullopt;
}

bool leads_to_known(const ExitPlace& jump) {
    return !jump.code.indirect && jump.code.target != 0;
}

} // namespace

std::vector<ExitPlace> find_tail_ends(const PlaceMatch& function, const ProbeModule& module) {
    std::set<uint64_t> seen{function.address};
    std::vector<uint64_t> targets;
    const auto follow = [&](const ExitPlace& jump) {
        if (leads_to_known(jump) && seen.insert(jump.code.target).second)
            targets.push_back(jump.code.target);
        return leads_to_known(jump);
    };
    for (const ExitPlace& exit : function.exits)
        if (exit.code.kind != ExitKind::jump || exit.code.to_itself ||
            exit.file_offset == function.entry.file_offset || !follow(exit))
            return {};
    std::vector<ExitPlace> ends;
    while (!targets.empty()) {
        const auto place = function_at(targets.back(), function.module, module);
        targets.pop_back();
        if (!place || seen.size() > most_functions + 1)
            return {};
        for (const ExitPlace& exit : place->exits) {
            if (exit.code.to_itself)
                continue; // in a loop
            if (exit.code.cost == ProbeCost::refused ||
                (exit.code.conditional && exit.code.condition >= no_condition))
                return {};
            if (exit.code.kind == ExitKind::ret)
                ends.push_back(exit);
            else if (!follow(exit))
                return {};
        }
    }
    // Parts of functions may be shared.
    std::ranges::sort(ends, {}, &ExitPlace::file_offset);
    const auto same = std::ranges::unique(ends, {}, &ExitPlace::file_offset);
    ends.erase(same.begin(), same.end());
    return ends.size() <= most_ends ? ends : std::vector<ExitPlace>();
}

} // namespace auger
