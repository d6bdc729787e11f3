// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/frames_under.h"

#include "views/short_name.h"

#include <algorithm>

namespace auger {

bool FramesUnder::cut(std::string_view label, std::vector<FunctionId>& path) {
    if (name_.empty() || label == name_)
        return true;
    const auto found = std::ranges::find_if(path, [this](FunctionId f) { return named(f); });
    const bool is_there = found != path.end();
    path.erase(path.begin(), found);
    return is_there;
}

bool FramesUnder::named(FunctionId function) {
    if (function.index() >= known_.size())
        known_.resize(std::max(function.index() + 1, symbols_.functions()), -1);
    int8_t& known = known_[function.index()];
    if (known < 0) {
        const std::string_view name = symbols_.name(function);
        known = name == name_ || short_name(name) == name_;
    }
    return known > 0;
}

} // namespace auger
