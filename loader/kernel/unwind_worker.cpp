// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/unwind_worker.h"

#include "loader/process/trusted_file.h"
#include "loader/symbols/symbolizer.h"
#include "loader/symbols/vdso.h"
#include "loader/unwind/table_reader.h"

#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

namespace auger {

namespace {

// Tables of files that others may write are made anew each time.
bool may_be_cached(const ModuleSource& source) {
    return !source.root && is_trusted_file(source.file.get());
}

Result<UnwindTables> tables_of(ConfinedProcesses& readers, ModuleSource source,
                               const UnwindCache& cache, const GoOn& go_on) {
    if (source.kind == ModuleKind::vdso) {
        auto image = vdso_image();
        if (!image)
            return image.error();
        source.file = *std::move(image);
    }
    if (!source.file)
        return Error{"read call frame information", source.path, source.error, ""};
    return read_unwind_tables(readers, source.file.get(), source.path,
                              may_be_cached(source) ? &cache : nullptr, go_on);
}

} // namespace

struct UnwindWorker::State {
    explicit State(std::shared_ptr<ConfinedProcesses> confined) : readers(std::move(confined)) {}

    struct Job {
        bool trusted; // first: a hostile file may take all the time it is given
        uint64_t size;
        ModuleId module;
        std::shared_ptr<ModuleSource> source;
        bool operator<(const Job& other) const {
            return std::tuple(!trusted, size, module.value) <
                   std::tuple(!other.trusted, other.size, other.module.value);
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
    std::thread([state = state_] { run(*state); }).detach();
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
        const State::Job job = *state.jobs.begin();
        state.jobs.erase(state.jobs.begin());
        state.current = base_name(job.source->path);
        lock.unlock();
        auto tables =
            tables_of(*state.readers, std::move(*job.source), cache, [&] { return !state.stop; });
        lock.lock();
        state.current.clear();
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
    state_->jobs.insert({trusted, size, module, std::make_shared<ModuleSource>(std::move(source))});
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
