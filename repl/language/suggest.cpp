// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/suggest.h"

#include "loader/probes/edit_distance.h"

#include <algorithm>

namespace auger {
namespace {

constexpr size_t longest = 64; // longer words are not typing errors of ours

} // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
    if (word.empty() || word.size() > longest)
        return {};
    std::string best;
    size_t best_errors = std::max<size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : known) {
        if (candidate.size() > longest)
            continue;
        const size_t errors = edit_distance(word, candidate, best_errors);
        if (errors < best_errors && errors < candidate.size()) {
            best = candidate;
            best_errors = errors;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
    const std::string best = nearest(word, known);
    return best.empty() ? "" : "did you mean \"" + best + "\"?";
}

} // namespace auger
