// SPDX-License-Identifier: GPL-3.0-or-later
// The thread that finds lines and inlined frames.
#include "loader/symbols/symbol_worker.h"

#include <algorithm>

namespace auger {
namespace {

constexpr size_t dwarf_memory_limit = size_t{2} << 30; // bytes of sections held by libdw
constexpr size_t most_readers = 64;                    // processes

} // namespace

void SymbolWorker::run_lines() {
    for (;;) {
        ModuleId module;
        std::vector<Location> batch;
        {
            std::unique_lock lock(mutex_);
            lining_.phase.clear();
            changed_.wait(lock, [this] { return stop_ || !line_queue_.empty(); });
            if (stop_)
                return;
            batch = take_batch(line_queue_, module);
        }
        line_batch(module, batch);
    }
}

SymbolWorker::ModuleLines& SymbolWorker::lines_of(ModuleId module) {
    std::shared_ptr<const DwarfSource> source;
    std::string name;
    {
        std::lock_guard lock(mutex_);
        source = dwarf_sources_[module];
        name = base_name(paths_[module]);
    }
    const auto [at, added] = lines_.try_emplace(source.get());
    at->second.used = ++uses_;
    if (added) {
        begin(lining_, name, "line information");
        auto opened = processes_ ? DwarfReader::open(*processes_, *source, lining_.progress)
                                 : Error{"read line information of", name, no_processes_, {}};
        std::lock_guard lock(mutex_);
        reports_[module].lines = opened.ok();
        if (opened)
            at->second.reader = *std::move(opened);
        else
            reports_[module].note = opened.error().message();
    } else if (at->second.reader) {
        std::lock_guard lock(mutex_);
        reports_[module].lines = true;
    }
    limit_memory(source.get());
    begin(lining_, name, "lines");
    return at->second;
}

void SymbolWorker::forget_lines(ModuleId module) {
    std::lock_guard lock(mutex_);
    lines_.erase(dwarf_sources_[module].get());
}

void SymbolWorker::limit_memory(const DwarfSource* keep) {
    for (;;) {
        size_t bytes = 0, readers = 0;
        auto oldest = lines_.end();
        for (auto at = lines_.begin(); at != lines_.end(); ++at) {
            if (!at->second.reader)
                continue;
            bytes += at->second.reader->section_bytes();
            readers++;
            if (at->first != keep &&
                (oldest == lines_.end() || at->second.used < oldest->second.used))
                oldest = at;
        }
        if ((bytes <= dwarf_memory_limit && readers <= most_readers) || oldest == lines_.end())
            return;
        lines_.erase(oldest);
    }
}

std::vector<DwarfReader::Frames> SymbolWorker::read_lines(ModuleId module,
                                                          const std::vector<Location>& batch) {
    std::vector<uint64_t> addresses;
    for (const Location& location : batch)
        addresses.push_back(place(location));
    for (bool again = false;; again = true) {
        ModuleLines& lines = lines_of(module);
        if (!lines.reader)
            break;
        auto found = lines.reader->frames(addresses, lining_.progress);
        if (found)
            return *std::move(found);
        // One that was killed is replaced, but not one that dies of these addresses. What fails
        // otherwise is not tried again: names are all that this module will have.
        const bool replace = lines.reader->died() && !again;
        if (replace) {
            forget_lines(module);
            continue;
        }
        lines.reader.reset();
        std::lock_guard lock(mutex_);
        reports_[module].lines = false;
        reports_[module].note = found.error().message();
        break;
    }
    return std::vector<DwarfReader::Frames>(batch.size());
}

void SymbolWorker::line_batch(ModuleId module, const std::vector<Location>& batch) {
    std::vector<DwarfReader::Frames> found = read_lines(module, batch);
    std::lock_guard lock(mutex_);
    if (stop_)
        return;
    for (size_t i = 0; i < batch.size(); i++) {
        Entry& entry = entries_.at(batch[i]);
        std::vector<Frame> frames;
        for (SourceFrame& source : found[i])
            frames.push_back(
                {std::move(source.function), std::move(source.file), source.line, source.inlined});
        if (!frames.empty()) {
            // The outermost function's name is the symbol's, which was shown before: that of the
            // code as it is (clones included). DWARF names what has no symbol.
            // Parts of it that the compiler split off and inlined again are the same function.
            Frame& outermost = frames.back();
            if (entry.named || outermost.function.empty()) {
                const std::string in_dwarf = outermost.function;
                for (Frame& frame : frames)
                    if (!in_dwarf.empty() && frame.function == in_dwarf)
                        frame.function = entry.frames->back().function;
                outermost.function = entry.frames->back().function;
            }
            outermost.inlined = false;
            for (Frame& frame : frames)
                if (frame.function.empty())
                    frame.function = unknown_name;
            entry.frames = std::make_shared<const std::vector<Frame>>(std::move(frames));
        }
        entry.detail = Detail::full;
        unfinished_--;
    }
    generation_++;
    changed_.notify_all();
}

} // namespace auger
