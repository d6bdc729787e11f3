// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: functions of C that a language has names for.
#include "loader/kernel/live_probes.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

// How often is looked for what is not imported yet.
constexpr uint64_t import_interval_ns = 250'000'000;

} // namespace

// By its address, in the file where it lies, which may have no name for it.
Result<ProbeMatches> LiveProbes::find_native(const ProbePattern& pattern, const TargetView& view,
                                             const MatchOptions& options) {
    const NativeFunctions::Places natives = natives_.find(pattern, view);
    native_may_come_ = natives.may_come;
    if (natives.places.empty())
        return natives.error;
    ProbeMatches found;
    for (const NativeFunctions::Place& native : natives.places) {
        ProbePattern there;
        there.text = fmt::format("0x{:x}", native.address);
        there.address = native.address;
        const TargetModule& module = view.modules[native.module];
        const SearchedFile file{module.file, true};
        auto matches = readers_.find(there, {&file, 1}, options);
        if (!matches) {
            found.skipped.push_back({native.module, pattern.text, matches.error().cause});
            continue;
        }
        for (PlaceMatch& match : matches->places) {
            match.module = native.module;
            if (match.kind != PlaceKind::function || match.address != native.address) {
                found.skipped.push_back(
                    {native.module, pattern.text,
                     fmt::format("no function begins at {} in {}", there.text, module.path)});
                continue;
            }
            if (match.name.find("+0x") == std::string::npos)
                match.notes.push_back(fmt::format("{} is {}", pattern.text, match.name));
            match.name = pattern.text;
            found.places.push_back(std::move(match));
        }
        for (SkippedPlace& skipped : matches->skipped) {
            skipped.module = native.module;
            found.skipped.push_back(std::move(skipped));
        }
        if (!matches->being_read.empty())
            found.being_read.push_back(native.module);
    }
    if (found.places.empty() && found.being_read.empty())
        return nothing_to_probe(found.skipped);
    return found;
}

uint64_t LiveProbes::look_again_ns() const {
    const uint64_t contexts = contexts_.look_again_ns();
    const bool waits = std::ranges::any_of(probes_, [](const auto& probe) {
        return probe.second.waits_for_native && !probe.second.info.off &&
               probe.second.places.empty();
    });
    return !waits     ? contexts
           : contexts ? std::min(contexts, import_interval_ns)
                      : import_interval_ns;
}

} // namespace auger
