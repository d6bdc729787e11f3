// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/unwind_worker.h"

#include "loader/symbols/symbolizer.h"
#include "loader/symbols/vdso.h"
#include "loader/unwind/unwind_cache.h"

#include <sys/stat.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace auger {

namespace {

Result<UnwindTables> tables_of(ModuleSource source, const UnwindCache& cache) {
    if (source.kind == ModuleKind::vdso) {
        auto image = vdso_image();
        if (!image)
            return image.error();
        source.file = *std::move(image);
    }
    if (!source.file)
        return Error{"read call frame information", source.path, source.error, ""};
    auto elf = ElfFile::open(std::move(source.file), source.path);
    if (!elf)
        return elf.error();
    return unwind_tables(**elf, cache);
}

} // namespace

struct UnwindWorker::State {
    struct Job {
        uint64_t size;
        ModuleId module;
        std::shared_ptr<ModuleSource> source;
        bool operator<(const Job& other) const {
            return std::pair(size, module.value) < std::pair(other.size, other.module.value);
        }
    };

    mutable std::mutex mutex;
    std::condition_variable changed;
    std::set<Job> jobs;
    std::string current;
    std::vector<Finished> finished;
    bool stop = false;
};

UnwindWorker::UnwindWorker() : state_(std::make_shared<State>()) {
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
        auto tables = tables_of(std::move(*job.source), cache);
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
    const std::lock_guard lock(state_->mutex);
    state_->jobs.insert({size, module, std::make_shared<ModuleSource>(std::move(source))});
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
