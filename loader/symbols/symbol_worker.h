// SPDX-License-Identifier: GPL-3.0-or-later
// SymbolWorker: the threads behind a Symbolizer, and what they share with it. One thread finds
// names, another lines and inlined frames, so that reading a large file's DWARF never delays the
// names of another; a third fetches debug files, if the user wants that. The threads own the state
// together with the Symbolizer: when one is deep in a library's call at the end, it is left to
// finish by itself.
#pragma once

#include "loader/symbols/debug_fetcher.h"
#include "loader/symbols/dwarf_reader.h"
#include "loader/symbols/generated_code.h"
#include "loader/symbols/module_names.h"
#include "loader/symbols/symbolizer.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

namespace auger {

class SymbolWorker : public std::enable_shared_from_this<SymbolWorker> {
  public:
    explicit SymbolWorker(SymbolizerOptions options);

    void start(); // the threads; once
    void stop();  // returns soon, whatever the threads are doing

    // What is known; queues what is not. `source` is called for a module's first location.
    template <typename Source>
    Resolution request(const Location& location, const std::string& module_path, ModuleKind kind,
                       Source source);

    // Of a location that was requested before: what is known of it now.
    Resolution known(const Location& location) const;

    // Reads on at once in what is written of generated code.
    void read_on();
    std::set<ModuleId> take_outdated();

    uint64_t generation() const { return generation_; }
    std::vector<ModuleProgress> progress() const;
    std::vector<ModuleReport> reports() const;
    size_t waiting() const;
    bool wait_idle(std::chrono::steady_clock::time_point deadline) const;

  private:
    using Frames = std::shared_ptr<const std::vector<Frame>>;

    using Queue = std::map<ModuleId, std::deque<Location>>;

    struct LocationHash {
        size_t operator()(const Location& at) const {
            return (at.address * 2 + at.is_return) * 0x9e3779b97f4a7c15ULL ^ at.module.value;
        }
    };
    struct Entry {
        Detail detail = Detail::offset;
        Frames frames;
        bool named = false;
    };
    // What one thread is busy with.
    struct Activity {
        std::string module;
        std::string phase; // empty: idle
        WorkProgress progress;
    };
    struct ModuleLines {
        std::unique_ptr<DwarfReader> reader;
        uint64_t used = 0;
        // Without a reader: why the last one is gone. One that has died is replaced later, some
        // times.
        bool failed = false;
        int retries = 0;
        std::chrono::steady_clock::time_point retry_at{};
    };
    // Locations whose names or lines are put off; counted in unfinished_.
    struct PutOff {
        std::chrono::steady_clock::time_point due{};
        std::vector<Location> waiting{};
    };
    using PutOffs = std::map<ModuleId, PutOff>;

    static uint64_t place(const Location& at) {
        return at.address - (at.is_return && at.address ? 1 : 0);
    }

    // Some of one module's, which are then no longer queued.
    static std::vector<Location> take_batch(Queue& queue, ModuleId& module,
                                            const std::function<bool(ModuleId)>& was_read = {});

    void run_names();
    void run_lines();
    void run_fetches();
    void name_batch(ModuleId module, const std::vector<Location>& batch);
    // False while the module's debug file is being fetched.
    bool complete(ModuleNames& names);
    void line_batch(ModuleId module, const std::vector<Location>& batch);
    // Its reader is null when there is no usable DWARF, or not now.
    ModuleLines& lines_of(ModuleId module);
    void fail_lines(ModuleLines& lines, ModuleId module, const Error& error, bool died);
    // None: put off.
    std::optional<std::vector<DwarfReader::Frames>> read_lines(ModuleId module,
                                                               const std::vector<Location>& batch);
    void limit_memory(const DwarfSource* keep);
    void look_at_generated_code();
    void retry_names();
    void retry_lines();
    static std::chrono::steady_clock::time_point first_due(const PutOffs& put_offs);
    void wait_until(std::unique_lock<std::mutex>& lock, std::chrono::steady_clock::time_point end,
                    const std::function<bool()>& something);
    void note_generated_code();
    void begin(Activity& activity, const std::string& module, const char* phase);

    const SymbolizerOptions options_;
    const UniqueFd own_root_;
    std::string no_processes_;                           // why there are none
    const std::shared_ptr<ConfinedProcesses> processes_; // null: nothing can be read
    std::atomic<bool> stop_{false};
    std::atomic<uint64_t> generation_{0};

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_; // work came, work was done, or a thread ended
    int running_ = 0;                         // threads
    std::unordered_map<Location, Entry, LocationHash> entries_;
    size_t unfinished_ = 0;
    std::set<ModuleId> known_;
    std::map<ModuleId, ModuleSource> new_sources_;
    std::map<ModuleId, std::string> paths_;
    Queue name_queue_, line_queue_;
    std::map<ModuleId, std::shared_ptr<const DwarfSource>> dwarf_sources_;
    std::map<ModuleId, ModuleReport> reports_;
    bool read_on_ = false;        // counted in unfinished_
    std::set<ModuleId> outdated_; // not yet told
    Activity naming_, lining_, fetching_;
    DebugFetcher fetcher_;

    // Of the naming thread alone. Several modules may share their names.
    ModuleNamesMaker names_maker_;
    std::map<ModuleId, std::shared_ptr<ModuleNames>> names_;
    GeneratedCode generated_;
    std::chrono::steady_clock::time_point last_look_{};
    PutOffs put_off_names_;
    // Of the line thread alone.
    std::map<const DwarfSource*, ModuleLines> lines_;
    PutOffs put_off_lines_;
    uint64_t uses_ = 0;
};

template <typename Source>
Resolution SymbolWorker::request(const Location& location, const std::string& module_path,
                                 ModuleKind kind, Source source) {
    std::lock_guard lock(mutex_);
    auto [at, added] = entries_.try_emplace(location);
    Entry& entry = at->second;
    if (added) {
        Frame frame;
        frame.function = kind == ModuleKind::file || kind == ModuleKind::vdso
                             ? offset_name(module_path, location.address)
                             : std::string(unknown_name);
        entry.frames = std::make_shared<const std::vector<Frame>>(1, std::move(frame));
        if (kind == ModuleKind::unknown) {
            entry.detail = Detail::full;
            return {entry.detail, entry.frames};
        }
        if (known_.insert(location.module).second) {
            new_sources_.emplace(location.module, source());
            paths_.emplace(location.module, module_path);
        }
    } else {
        return {entry.detail, entry.frames};
    }
    unfinished_++;
    name_queue_[location.module].push_back(location);
    changed_.notify_all();
    return {entry.detail, entry.frames};
}

} // namespace auger
