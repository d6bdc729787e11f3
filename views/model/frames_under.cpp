// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/frames_under.h"

#include "views/frame_text.h"
#include "views/model/frame_kind.h"
#include "views/short_name.h"

#include <algorithm>

namespace auger {

FramesUnder::FramesUnder(const SymbolTables& symbols, const std::string& text) : symbols_(symbols) {
    for (size_t begin = 0; !text.empty() && begin <= text.size();) {
        const size_t end = std::min(text.find(';', begin), text.size());
        steps_.push_back({text.substr(begin, end - begin), {}});
        begin = end + 1;
    }
}

std::string FramesUnder::name_in_path(std::string_view raw) {
    return frame_text(short_name(raw));
}

bool FramesUnder::cut(std::string_view label, std::vector<FunctionId>& path) {
    if (steps_.empty())
        return true;
    size_t end = none;
    if (label == steps_[0].name || name_in_path(label) == steps_[0].name) {
        if (steps_.size() == 1)
            return true;
        end = end_of_match(1, 0, path);
    }
    for (size_t i = 0; end == none && i < path.size(); i++)
        end = end_of_match(0, i, path);
    path.erase(path.begin(), end == none ? path.end() : path.begin() + ptrdiff_t(end));
    return end != none;
}

// Where the last step's frame is when the first one's is at `at`. Direct recursion is one frame.
size_t FramesUnder::end_of_match(size_t step, size_t at, const std::vector<FunctionId>& path) {
    while (at < path.size() && is(step, path[at])) {
        if (++step == steps_.size())
            return at;
        const FunctionId here = path[at];
        while (at < path.size() && path[at] == here)
            at++;
    }
    return none;
}

bool FramesUnder::is(size_t step, FunctionId function) {
    std::vector<int8_t>& all = steps_[step].known;
    if (function.index() >= all.size())
        all.resize(std::max(function.index() + 1, symbols_.functions()), -1);
    int8_t& known = all[function.index()];
    if (known < 0) {
        const std::string& name = steps_[step].name;
        const std::string_view raw = symbols_.name(function);
        known = raw == name || short_name(raw) == name || name_in_path(raw) == name ||
                source_name(raw) == name;
    }
    return known > 0;
}

} // namespace auger
