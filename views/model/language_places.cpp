// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/language_places.h"

#include "views/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

LanguagePlaces::LanguagePlaces(const SymbolTables& symbols) : symbols_(symbols) {
    for (uint32_t i = 0; i < symbols.locations(); i++) {
        const LocationId id{i};
        const ModuleKind kind = symbols.module(symbols.location(id).module).kind;
        if (kind != ModuleKind::python && kind != ModuleKind::java && kind != ModuleKind::js &&
            kind != ModuleKind::php && kind != ModuleKind::ruby && kind != ModuleKind::perl)
            continue;
        for (const FrameEntry& frame : symbols.frames(id)) {
            Place& place = places_.try_emplace(frame.function, Place{frame.file}).first->second;
            if (frame.line == 0)
                continue;
            place.first = place.first ? std::min(place.first, frame.line) : frame.line;
            place.last = std::max(place.last, frame.line);
        }
    }
}

std::string LanguagePlaces::of(FunctionId function) const {
    const auto found = places_.find(function);
    if (found == places_.end())
        return {};
    const Place& place = found->second;
    const std::string_view path = symbols_.text(place.file);
    std::string text = escape_untrusted(path.substr(path.rfind('/') + 1));
    if (place.first)
        text += fmt::format(":{}", place.first);
    if (place.last != place.first)
        text += fmt::format("-{}", place.last);
    return text;
}

} // namespace auger
