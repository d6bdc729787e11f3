// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/stack_anchor.h"

#include <algorithm>

namespace auger {

namespace {

// Calls visit(function, location, frame) from the root on, until it returns false.
template <typename Visit>
void walk(const SymbolTables& symbols, std::span<const LocationId> locations, Visit visit) {
    const auto probe = symbols.probe_function();
    const size_t handling = probe ? symbols.probe_handling(locations) : 0;
    for (size_t location = 0; location < locations.size(); location++) {
        const auto frames = symbols.frames(locations[locations.size() - 1 - location]);
        if (handling && location + handling == locations.size() &&
            !visit(*probe, location, frames.size()))
            return;
        for (size_t frame = 0; frame < frames.size(); frame++)
            if (!visit(frames[frames.size() - 1 - frame].function, location, frame))
                return;
    }
}

} // namespace

std::optional<StackAnchor> StackAnchor::of(const SymbolTables& symbols, StackId stack,
                                           const std::vector<FunctionId>& path) {
    const auto locations = symbols.stack(stack);
    return make(symbols, {locations.begin(), locations.end()}, path);
}

std::optional<StackAnchor> StackAnchor::of(const SymbolTables& symbols,
                                           const std::vector<FunctionId>& path) const {
    return make(symbols, stack_, path);
}

std::optional<StackAnchor> StackAnchor::make(const SymbolTables& symbols,
                                             std::vector<LocationId> stack,
                                             const std::vector<FunctionId>& path) {
    StackAnchor anchor;
    anchor.stack_ = std::move(stack);
    std::optional<FunctionId> last;
    walk(symbols, anchor.stack_, [&](FunctionId function, size_t location, size_t frame) {
        if (function == last) // direct recursion is one frame of a flame
            return true;
        if (anchor.places_.size() == path.size() || function != path[anchor.places_.size()])
            return false;
        last = function;
        anchor.places_.push_back({location, frame});
        return true;
    });
    return anchor.places_.size() == path.size() ? std::optional(anchor) : std::nullopt;
}

StackAnchor::Renamed StackAnchor::renamed(const SymbolTables& symbols) const {
    Renamed renamed;
    walk(symbols, stack_, [&](FunctionId function, size_t location, size_t frame) {
        // Of a location with fewer frames than there were, the innermost stands for those.
        while (renamed.now.size() < places_.size()) {
            const Place& place = places_[renamed.now.size()];
            if (place.location >= location)
                break;
            renamed.now.push_back(renamed.path.empty() ? 0 : renamed.path.size() - 1);
        }
        if (renamed.now.size() == places_.size())
            return false;
        if (renamed.path.empty() || renamed.path.back() != function)
            renamed.path.push_back(function);
        const Place& place = places_[renamed.now.size()];
        if (place.location == location && place.frame == frame)
            renamed.now.push_back(renamed.path.size() - 1);
        return true;
    });
    while (renamed.now.size() < places_.size())
        renamed.now.push_back(renamed.path.empty() ? 0 : renamed.path.size() - 1);
    if (!renamed.now.empty())
        renamed.path.resize(std::min(renamed.path.size(), renamed.now.back() + 1));
    return renamed;
}

} // namespace auger
