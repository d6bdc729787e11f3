// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/suggest.h"

#include <algorithm>

namespace auger {
namespace {

constexpr size_t longest = 64; // longer words are not typing errors of ours

} // namespace

size_t typing_errors(std::string_view a, std::string_view b) {
    // Optimal string alignment, three rows.
    std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j)
        previous[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = previous[j - 1] + (a[i - 1] != b[j - 1]);
            current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = std::min(current[j], before[j - 2] + 1);
        }
        std::swap(before, previous);
        std::swap(previous, current);
    }
    return previous[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
    if (word.empty() || word.size() > longest)
        return {};
    std::string best;
    size_t best_errors = std::max<size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : known) {
        if (candidate.size() > longest)
            continue;
        const size_t errors = typing_errors(word, candidate);
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
