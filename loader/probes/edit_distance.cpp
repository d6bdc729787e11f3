// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace auger {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

} // namespace

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
    if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit)
        return limit + 1;
    std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 1; i <= a.size(); ++i) {
        next[0] = i;
        size_t least = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + !same});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                next[j] = std::min(next[j], before[j - 2] + 1);
            least = std::min(least, next[j]);
        }
        if (least > limit)
            return limit + 1;
        std::swap(before, row);
        std::swap(row, next);
    }
    return row[b.size()];
}

std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string>& names,
                                    size_t limit) {
    const size_t allowed = std::max<size_t>(1, wanted.size() / 3);
    std::set<std::pair<size_t, std::string>> best;
    for (const std::string& name : names)
        if (const size_t distance = edit_distance(wanted, name, allowed); distance <= allowed)
            best.emplace(distance, name);
    std::vector<std::string> near;
    for (const auto& [distance, name] : best)
        if (near.size() < limit)
            near.push_back(name);
    return near;
}

} // namespace auger
