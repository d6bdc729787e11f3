// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/offline_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {
namespace {
constexpr size_t max_locations = 1 << 28;
} // namespace

namespace {

SymbolizerOptions with_readers(std::shared_ptr<ConfinedProcesses> readers) {
    SymbolizerOptions options;
    options.readers = std::move(readers);
    return options;
}

} // namespace

OfflineNames::OfflineNames(SysrootModules modules, std::shared_ptr<ConfinedProcesses> readers)
    : modules_(std::move(modules)), symbolizer_(modules_, with_readers(std::move(readers))) {}

void OfflineNames::on_module(ModuleId id, const ModuleInfo& info) {
    modules_.define(id, info);
}

void OfflineNames::on_location(LocationId id, const Location& location) {
    if (id.index() >= max_locations || !modules_.knows(location.module) ||
        modules_.info(location.module).kind != ModuleKind::file)
        return;
    if (id.index() >= entries_.size())
        entries_.resize(id.index() + 1);
    entries_[id.index()].location = location;
    if (delivering_)
        fresh_.push_back(id.value);
}

void OfflineNames::begin_delivery() {
    delivering_ = true;
}

void OfflineNames::on_frames(LocationId id, std::span<const Frame> frames) {
    if (id.index() >= entries_.size())
        return;
    Entry& entry = entries_[id.index()];
    const Quality quality = quality_of(entry.location, frames);
    entry.recorded = std::max(entry.recorded, quality);
    if (!delivering_)
        return;
    entry.told = quality;
    if (entry.asked) { // what was found may still be better
        asked_.push_back(id.value);
        generation_ = 0;
    }
}

OfflineNames::Quality OfflineNames::quality_of(const Location& location,
                                               std::span<const Frame> frames) const {
    if (std::ranges::any_of(frames, [](const Frame& frame) { return frame.line != 0; }))
        return Quality::lines;
    if (frames.empty() || !modules_.knows(location.module))
        return Quality::offset;
    // "git+0x1f0e0" tells where a function begins, but not its name.
    const std::string_view file = base_name(modules_.info(location.module).path);
    const std::string_view name = frames.back().function;
    const bool offset = name == unknown_name ||
                        (name.starts_with(file) && name.substr(file.size()).starts_with("+0x"));
    return offset ? Quality::offset : Quality::name;
}

void OfflineNames::deliver(EventSink& sink) {
    for (const uint32_t id : std::exchange(fresh_, {})) {
        Entry& entry = entries_[id];
        if (entry.recorded == Quality::lines || std::exchange(entry.asked, true))
            continue;
        (void)symbolizer_.request(entry.location);
        asked_.push_back(id);
    }
    const uint64_t generation = symbolizer_.generation();
    if (generation == generation_)
        return;
    generation_ = generation;
    std::erase_if(asked_, [&](uint32_t id) {
        Entry& entry = entries_[id];
        const Resolution found = symbolizer_.known(entry.location);
        const Quality quality = quality_of(entry.location, *found.frames);
        if (quality > entry.told) {
            entry.told = quality;
            sink.on_frames(LocationId{id}, *found.frames);
        }
        return found.detail == Detail::full;
    });
}

void OfflineNames::settle(EventSink& sink, std::chrono::nanoseconds timeout) {
    deliver(sink);
    symbolizer_.wait_idle(std::chrono::steady_clock::now() + timeout);
    deliver(sink);
}

SymbolProgress OfflineNames::progress() const {
    SymbolProgress progress;
    progress.pending = symbolizer_.waiting();
    for (const ModuleProgress& module : symbolizer_.progress())
        progress.modules.push_back(progress_text(module));
    return progress;
}

std::string OfflineNames::take_problems() {
    constexpr size_t shown = 4;
    std::vector<std::string> problems = modules_.take_problems();
    if (problems.empty())
        return {};
    const size_t more = problems.size() - std::min(problems.size(), shown);
    problems.resize(problems.size() - more);
    return fmt::format("without better names: {}{}", fmt::join(problems, "; "),
                       more ? fmt::format("; and {} modules more", more) : "");
}

} // namespace auger
