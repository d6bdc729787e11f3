// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/symbol_worker.h"

#include "loader/process/capabilities.h"
#include "loader/process/safe_open.h"
#include "loader/symbols/debuginfod.h"

#include <linux/capability.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>

namespace auger {
namespace {

constexpr size_t batch_size = 512;               // so that views get better names bit by bit
constexpr std::chrono::seconds look_interval{1}; // at what is written of generated code

UniqueFd root_folder() {
    auto root = open_folder("/");
    return root ? *std::move(root) : UniqueFd();
}

// Null when they cannot be started.
std::shared_ptr<ConfinedProcesses> own_processes(std::string& problem) {
    auto processes = ConfinedProcesses::start(reader_program());
    if (processes)
        return *std::move(processes);
    problem = processes.error().message();
    return nullptr;
}

} // namespace

SymbolWorker::SymbolWorker(SymbolizerOptions options)
    : options_(std::move(options)), own_root_(root_folder()),
      processes_(options_.readers ? options_.readers : own_processes(no_processes_)),
      names_maker_({options_.debug_folder, options_.kallsyms, own_root_.get()},
                   NameProcesses(processes_, no_processes_), naming_.progress) {
    naming_.progress.stop = &stop_;
    lining_.progress.stop = &stop_;
    fetching_.progress.stop = &stop_;
}

void SymbolWorker::start() {
    running_ = options_.debuginfod ? 3 : 2;
    // Whatever is observed shares the machine: let it go first, but for names, without which the
    // first flame says nothing.
    const auto run = [self = shared_from_this()](const char* name, CapabilitySet kept,
                                                 void (SymbolWorker::*loop)(), bool last = true) {
        std::thread([self, name, kept, loop, last] {
            begin_thread(name, kept);
            if (last)
                setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
            ((*self).*loop)();
            std::lock_guard lock(self->mutex_);
            self->running_--;
            self->changed_.notify_all();
        }).detach();
    };
    // Both end readers; names are also looked for in debug files, perf maps and /proc/kallsyms.
    constexpr CapabilitySet readers = capability(CAP_KILL);
    run("names", readers | capability(CAP_DAC_READ_SEARCH) | capability(CAP_SYSLOG),
        &SymbolWorker::run_names, false);
    run("lines", readers, &SymbolWorker::run_lines);
    if (options_.debuginfod)
        run("debuginfod", readers, &SymbolWorker::run_fetches);
}

void SymbolWorker::stop() {
    std::unique_lock lock(mutex_);
    stop_ = true;
    changed_.notify_all();
    // Threads that wait for a reader look now and then whether to stop. One inside debuginfod's
    // library cannot be stopped; it holds the state by itself and ends when it comes back.
    changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return running_ == 0; });
}

std::vector<Location> SymbolWorker::take_batch(Queue& queue, ModuleId& module,
                                               const std::function<bool(ModuleId)>& was_read) {
    // One module at a time: those first that have been read already, then the longest waiting line,
    // which pays most for being read.
    auto at = std::max_element(queue.begin(), queue.end(), [&](const auto& a, const auto& b) {
        return std::pair(was_read && was_read(a.first), a.second.size()) <
               std::pair(was_read && was_read(b.first), b.second.size());
    });
    module = at->first;
    const auto count = static_cast<std::ptrdiff_t>(std::min(at->second.size(), batch_size));
    std::vector<Location> batch(at->second.begin(), at->second.begin() + count);
    at->second.erase(at->second.begin(), at->second.begin() + count);
    if (at->second.empty())
        queue.erase(at);
    return batch;
}

std::chrono::steady_clock::time_point SymbolWorker::first_due(const PutOffs& put_offs) {
    auto first = std::chrono::steady_clock::time_point::max();
    for (const auto& [module, put_off] : put_offs)
        first = std::min(first, put_off.due);
    return first;
}

// The end of time is none that a condition variable could wait until.
void SymbolWorker::wait_until(std::unique_lock<std::mutex>& lock,
                              std::chrono::steady_clock::time_point end,
                              const std::function<bool()>& something) {
    if (end == std::chrono::steady_clock::time_point::max())
        changed_.wait(lock, something);
    else
        changed_.wait_until(lock, end, something);
}

void SymbolWorker::begin(Activity& activity, const std::string& module, const char* phase) {
    std::lock_guard lock(mutex_);
    activity.module = module;
    activity.phase = phase;
    activity.progress.done = 0;
    activity.progress.total = 0;
}

Resolution SymbolWorker::known(const Location& location) const {
    std::lock_guard lock(mutex_);
    const Entry& entry = entries_.at(location);
    return {entry.detail, entry.frames};
}

void SymbolWorker::read_on() {
    std::lock_guard lock(mutex_);
    if (read_on_)
        return;
    read_on_ = true;
    unfinished_++;
    changed_.notify_all();
}

std::set<ModuleId> SymbolWorker::take_outdated() {
    std::lock_guard lock(mutex_);
    return std::exchange(outdated_, {});
}

void SymbolWorker::run_names() {
    for (;;) {
        ModuleId module;
        std::vector<Location> batch;
        {
            std::unique_lock lock(mutex_);
            naming_.phase.clear();
            const auto something = [this] { return stop_ || read_on_ || !name_queue_.empty(); };
            auto wake = std::chrono::steady_clock::time_point::max();
            if (!generated_.empty())
                wake = last_look_ + look_interval;
            wait_until(lock, std::min(wake, first_due(put_off_names_)), something);
            if (stop_)
                return;
            if (!name_queue_.empty())
                batch = take_batch(name_queue_, module,
                                   [this](ModuleId id) { return names_.contains(id); });
        }
        retry_names();
        if (!batch.empty())
            name_batch(module, batch);
        else
            look_at_generated_code();
    }
}

// Others' names do not wait for it. When it has been tried often enough, its locations keep the
// names that there are.
void SymbolWorker::retry_names() {
    const auto now = std::chrono::steady_clock::now();
    for (auto at = put_off_names_.begin(); at != put_off_names_.end();) {
        auto& [module, put_off] = *at;
        if (put_off.due > now) {
            ++at;
            continue;
        }
        ModuleNames& names = *names_.at(module); // which modules may share
        names.try_again();
        if (names.put_off) {
            put_off.due = std::chrono::steady_clock::now() + *names.put_off;
            ++at;
            continue;
        }
        std::lock_guard lock(mutex_);
        auto& queue = name_queue_[module];
        queue.insert(queue.end(), put_off.waiting.begin(), put_off.waiting.end());
        at = put_off_names_.erase(at);
    }
}

void SymbolWorker::look_at_generated_code() {
    GeneratedCode::News news = generated_.look();
    names_maker_.limit_generated();
    last_look_ = std::chrono::steady_clock::now();
    std::lock_guard lock(mutex_);
    for (auto& [at, name] : news.named) {
        Entry& entry = entries_.at(at);
        Frame frame;
        frame.function = std::move(name);
        entry.frames = std::make_shared<const std::vector<Frame>>(1, std::move(frame));
        entry.named = true;
        entry.detail = Detail::full;
    }
    note_generated_code();
    outdated_.merge(news.outdated);
    if (!news.named.empty() || !outdated_.empty())
        generation_++;
    unfinished_ -= std::exchange(read_on_, false);
    changed_.notify_all();
}

// What was let go says so, though nobody asks for a name of it any more. To be locked.
void SymbolWorker::note_generated_code() {
    for (const auto& [module, names] : names_)
        if (names && names->generated && !names->note.empty())
            reports_[module].note = names->note;
}

void SymbolWorker::name_batch(ModuleId module, const std::vector<Location>& batch) {
    std::shared_ptr<ModuleNames>& names = names_[module];
    if (!names) {
        ModuleSource source;
        std::string path;
        {
            std::lock_guard lock(mutex_);
            source = std::move(new_sources_[module]);
            new_sources_.erase(module);
            path = paths_[module];
        }
        begin(naming_, std::string(base_name(path)), "symbols");
        if (source.kind == ModuleKind::jit && source.renews != unknown_module)
            names = names_[source.renews];
        if (!names)
            names = names_maker_.make(std::move(source));
    } else if (names->refresh()) {
        generated_.changed(names);
    }
    const bool let_go = names->generated && names_maker_.limit_generated();

    const bool complete_names = complete(*names);

    std::vector<AddressQuery> queries;
    for (const Location& location : batch)
        queries.push_back({location.address, place(location)});
    std::vector<AddressName> names_found = names->names(queries);
    std::vector<std::pair<Frames, bool>> found;
    for (size_t i = 0; i < batch.size(); i++) {
        AddressName& name = names_found[i];
        if (names->generated)
            generated_.add(batch[i], names, name.named ? name.text : "");
        Frame frame;
        frame.function = std::move(name.text);
        found.emplace_back(std::make_shared<const std::vector<Frame>>(1, std::move(frame)),
                           name.named);
    }

    std::lock_guard lock(mutex_);
    ModuleReport& report = reports_[module];
    report = {module,
              std::string(base_name(paths_[module])),
              names->build_id,
              names->symbols,
              report.lines,
              names->debug_file,
              names->note.empty() ? report.note : names->note};
    if (let_go)
        note_generated_code();
    const std::shared_ptr<const DwarfSource> dwarf = options_.lines ? names->dwarf() : nullptr;
    dwarf_sources_[module] = dwarf;
    bool better = false;
    for (size_t i = 0; i < batch.size(); i++) {
        Entry& entry = entries_.at(batch[i]);
        better = better || *entry.frames != *found[i].first;
        entry.frames = std::move(found[i].first);
        entry.named = found[i].second;
        if (names->put_off) {
            PutOff& put_off = put_off_names_[module];
            if (put_off.waiting.empty())
                put_off.due = std::chrono::steady_clock::now() + *names->put_off;
            put_off.waiting.push_back(batch[i]);
        } else if (!complete_names) {
            entry.detail = entry.named ? Detail::name : Detail::offset;
            if (fetcher_.answer(names->build_id))
                name_queue_[module].push_back(batch[i]); // it has come meanwhile
            else
                fetcher_.wait(names->build_id, batch[i]);
        } else if (dwarf) {
            entry.detail = Detail::name;
            line_queue_[module].push_back(batch[i]);
        } else {
            // The name of generated code may be written yet.
            entry.detail = names->generated && !entry.named ? Detail::offset : Detail::full;
            unfinished_--;
        }
    }
    if (better)
        generation_++;
    changed_.notify_all();
}

bool SymbolWorker::complete(ModuleNames& names) {
    if (!options_.debuginfod || !names.incomplete || names.build_id.empty())
        return true;
    DebugFetcher::Answer answer;
    {
        std::lock_guard lock(mutex_);
        const DebugFetcher::Answer* known = fetcher_.answer(names.build_id);
        changed_.notify_all();
        if (!known)
            return false;
        answer = *known;
    }
    names.incomplete = false;
    if (answer.file)
        names.complete(*answer.file);
    else
        names.note = answer.note;
    return true;
}

void SymbolWorker::run_fetches() {
    for (;;) {
        std::string build_id;
        {
            std::unique_lock lock(mutex_);
            fetching_.phase.clear();
            changed_.wait(lock, [this] { return stop_ || !fetcher_.idle(); });
            if (stop_)
                return;
            build_id = fetcher_.next();
        }
        begin(fetching_, build_id, "debuginfod");
        auto file = options_.debuginfod->fetch(build_id, fetching_.progress);
        DebugFetcher::Answer answer;
        if (file)
            answer.file = *std::move(file);
        else
            answer.note = file.error().message();
        std::lock_guard lock(mutex_);
        for (const Location& location : fetcher_.done(build_id, std::move(answer)))
            name_queue_[location.module].push_back(location);
        changed_.notify_all();
    }
}

std::vector<ModuleProgress> SymbolWorker::progress() const {
    std::lock_guard lock(mutex_);
    std::vector<ModuleProgress> busy;
    for (const Activity* activity : {&naming_, &lining_, &fetching_})
        if (!activity->phase.empty())
            busy.push_back({activity->module, activity->phase, activity->progress.done,
                            activity->progress.total});
    return busy;
}

std::vector<ModuleReport> SymbolWorker::reports() const {
    std::lock_guard lock(mutex_);
    std::vector<ModuleReport> all;
    for (const auto& [module, report] : reports_)
        all.push_back(report);
    return all;
}

size_t SymbolWorker::waiting() const {
    std::lock_guard lock(mutex_);
    return unfinished_;
}

bool SymbolWorker::wait_idle(std::chrono::steady_clock::time_point deadline) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [this] { return unfinished_ == 0; });
}

} // namespace auger
