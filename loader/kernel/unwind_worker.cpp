// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/unwind_worker.h"

#include "loader/process/capabilities.h"
#include "loader/process/trusted_file.h"
#include "loader/symbols/symbolizer.h"
#include "loader/symbols/vdso.h"
#include "loader/unwind/table_reader.h"

#include <linux/capability.h>
#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

namespace auger {

namespace {

// A file that kills its process does so again and again; one whose process was killed does not.
constexpr int most_deaths = 5;
constexpr std::chrono::milliseconds pause_after_death{100};

// Tables of files that others may write are made anew each time.
bool may_be_cached(const ModuleSource& source) {
    return !source.root && is_trusted_file(source.file.get());
}

Result<UnwindTables> tables_of(ConfinedProcesses& readers, const ModuleSource& source,
                               const UnwindCache& cache, const GoOn& go_on, bool& died) {
    if (source.kind == ModuleKind::vdso) {
        const auto image = vdso_image();
        if (!image)
            return image.error();
        return read_unwind_tables(readers, image->get(), source.path, nullptr, go_on, &died);
    }
    if (!source.file)
        return Error{"read call frame information", source.path, source.error, ""};
    return read_unwind_tables(readers, source.file.get(), source.path,
                              may_be_cached(source) ? &cache : nullptr, go_on, &died);
}

} // namespace

struct UnwindWorker::State {
    explicit State(std::shared_ptr<ConfinedProcesses> confined) : readers(std::move(confined)) {}

    struct Job {
        int deaths;   // of processes that were to read it
        bool trusted; // first: a hostile file may take all the time it is given
        uint64_t size;
        ModuleId module;
        std::shared_ptr<ModuleSource> source;
        bool operator<(const Job& other) const {
            return std::tuple(deaths, !trusted, size, module.value) <
                   std::tuple(other.deaths, !other.trusted, other.size, other.module.value);
        }
    };

    const std::shared_ptr<ConfinedProcesses> readers;
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::set<Job> jobs;
    std::string current;
    std::vector<Finished> finished;
    std::atomic<bool> stop = false;
};

UnwindWorker::UnwindWorker(std::shared_ptr<ConfinedProcesses> readers)
    : state_(std::make_shared<State>(std::move(readers))) {
    // It has files that are open, and ends readers.
    std::thread([state = state_] {
        begin_thread("tables", capability(CAP_KILL));
        run(*state);
    }).detach();
}

UnwindWorker::~UnwindWorker() {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
    state_->changed.notify_all();
}

void UnwindWorker::run(State& state) {
    const UnwindCache cache = UnwindCache::of_user();
    std::unique_lock lock(state.mutex);
    for (;;) {
        state.changed.wait(lock, [&] { return state.stop || !state.jobs.empty(); });
        if (state.stop)
            return;
        State::Job job = *state.jobs.begin();
        // Whatever kills them may be over by then.
        if (job.deaths && state.changed.wait_for(lock, pause_after_death * job.deaths, [&] {
                return state.stop || state.jobs.begin()->deaths == 0;
            }))
            continue;
        state.jobs.erase(state.jobs.begin());
        state.current = base_name(job.source->path);
        lock.unlock();
        bool died = false;
        auto tables = tables_of(
            *state.readers, *job.source, cache, [&] { return !state.stop; }, died);
        lock.lock();
        state.current.clear();
        if (died && ++job.deaths < most_deaths) {
            state.jobs.insert(std::move(job));
            continue;
        }
        state.finished.push_back({job.module, std::move(tables)});
        state.changed.notify_all();
    }
}

void UnwindWorker::request(ModuleId module, ModuleSource source) {
    struct stat status {};
    const bool known = source.file && fstat(source.file.get(), &status) == 0;
    const auto size = known ? static_cast<uint64_t>(status.st_size) : 0;
    const bool trusted = source.kind == ModuleKind::vdso || may_be_cached(source);
    const std::lock_guard lock(state_->mutex);
    state_->jobs.insert(
        {0, trusted, size, module, std::make_shared<ModuleSource>(std::move(source))});
    state_->changed.notify_all();
}

std::vector<UnwindWorker::Finished> UnwindWorker::take() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->finished, {});
}

bool UnwindWorker::wait_idle(std::chrono::steady_clock::time_point deadline) const {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_until(
        lock, deadline, [&] { return state_->jobs.empty() && state_->current.empty(); });
}

std::vector<std::string> UnwindWorker::busy_with() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<std::string> names;
    if (!state_->current.empty())
        names.push_back(state_->current);
    for (const State::Job& job : state_->jobs)
        names.emplace_back(base_name(job.source->path));
    return names;
}

} // namespace auger
