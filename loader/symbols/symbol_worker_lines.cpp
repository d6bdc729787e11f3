// SPDX-License-Identifier: GPL-3.0-or-later
// The thread that finds lines and inlined frames.
#include "loader/symbols/symbol_worker.h"

#include <algorithm>

namespace auger {
namespace {

constexpr size_t dwarf_memory_limit = size_t{2} << 30; // bytes of sections held by libdw
constexpr size_t most_readers = 64;                    // processes
constexpr int most_retries = 3; // after 1, 2 and 4 seconds; of two processes each

} // namespace

void SymbolWorker::run_lines() {
    for (;;) {
        ModuleId module;
        std::vector<Location> batch;
        {
            std::unique_lock lock(mutex_);
            lining_.phase.clear();
            wait_until(lock, first_due(put_off_lines_),
                       [this] { return stop_ || !line_queue_.empty(); });
            if (stop_)
                return;
            retry_lines();
            if (line_queue_.empty())
                continue;
            batch = take_batch(line_queue_, module);
        }
        line_batch(module, batch);
    }
}

// To be locked.
void SymbolWorker::retry_lines() {
    const auto now = std::chrono::steady_clock::now();
    for (auto at = put_off_lines_.begin(); at != put_off_lines_.end();) {
        if (at->second.due > now) {
            ++at;
            continue;
        }
        auto& queue = line_queue_[at->first];
        queue.insert(queue.end(), at->second.waiting.begin(), at->second.waiting.end());
        at = put_off_lines_.erase(at);
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
    ModuleLines& lines = lines_[source.get()];
    lines.used = ++uses_;
    if (!lines.reader && !lines.failed && lines.retry_at <= std::chrono::steady_clock::now()) {
        begin(lining_, name, "line information");
        bool died = false;
        auto opened = processes_ ? DwarfReader::open(*processes_, *source, lining_.progress, died)
                                 : Error{"read line information of", name, no_processes_, {}};
        if (opened)
            lines.reader = *std::move(opened);
        else
            fail_lines(lines, module, opened.error(), died);
    }
    if (lines.reader) {
        std::lock_guard lock(mutex_);
        reports_[module].lines = true;
        if (lines.retries > 0)
            reports_[module].note.clear(); // which said that its reader had died
    }
    limit_memory(source.get());
    begin(lining_, name, "lines");
    return lines;
}

// A file that kills its reader does so again and again; one whose reader was killed does not.
void SymbolWorker::fail_lines(ModuleLines& lines, ModuleId module, const Error& error, bool died) {
    lines.reader.reset();
    if (died && lines.retries < most_retries)
        lines.retry_at =
            std::chrono::steady_clock::now() + std::chrono::seconds(1 << lines.retries++);
    else
        lines.failed = true;
    std::lock_guard lock(mutex_);
    reports_[module].lines = false;
    reports_[module].note = error.message();
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

std::optional<std::vector<DwarfReader::Frames>>
SymbolWorker::read_lines(ModuleId module, const std::vector<Location>& batch) {
    std::vector<uint64_t> addresses;
    for (const Location& location : batch)
        addresses.push_back(place(location));
    for (bool again = false;; again = true) {
        ModuleLines& lines = lines_of(module);
        if (lines.reader) {
            auto found = lines.reader->frames(addresses, lining_.progress);
            if (found)
                return *std::move(found);
            const bool died = lines.reader->died();
            if (died && !again) { // it may have been killed
                lines.reader.reset();
                continue;
            }
            fail_lines(lines, module, found.error(), died);
        }
        if (lines.failed)
            return std::vector<DwarfReader::Frames>(batch.size());
        PutOff& put_off = put_off_lines_[module];
        put_off.due = lines.retry_at;
        put_off.waiting.insert(put_off.waiting.end(), batch.begin(), batch.end());
        return std::nullopt;
    }
}

void SymbolWorker::line_batch(ModuleId module, const std::vector<Location>& batch) {
    std::optional<std::vector<DwarfReader::Frames>> read = read_lines(module, batch);
    if (!read)
        return;
    std::vector<DwarfReader::Frames>& found = *read;
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
