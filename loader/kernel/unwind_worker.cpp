// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/unwind_worker.h"

#include "loader/process/capabilities.h"
#include "loader/process/file_owner.h"
#include "loader/process/trusted_file.h"
#include "loader/symbols/symbolizer.h"
#include "loader/symbols/vdso.h"
#include "loader/unwind/table_reader.h"

#include <linux/capability.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

namespace auger {

namespace {

// A file that kills its process does so again and again; one whose process was killed does not. The
// last pauses are as long as those of names and lines.
constexpr std::array pauses_after_deaths{
    std::chrono::milliseconds(100),  std::chrono::milliseconds(200),
    std::chrono::milliseconds(300),  std::chrono::milliseconds(400),
    std::chrono::milliseconds(1000), std::chrono::milliseconds(2000),
    std::chrono::milliseconds(4000)};
constexpr size_t most_deaths = pauses_after_deaths.size() + 1;
// Files of one user that wait, each with its descriptor. More are refused: any program can map
// others faster than they are read.
constexpr size_t most_waiting = 512;
// The smallest of so many of a user's come before the next, and before them other users' files.
constexpr size_t at_a_turn = 64;

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

    // What a thread takes.
    enum class Share { trusted, all };

    struct Job {
        size_t deaths; // of processes that were to read it
        bool trusted;  // first: a hostile file may take all the time it is given
        uint64_t size;
        ModuleId module;
        FileUser user;
        std::shared_ptr<ModuleSource> source;
        size_t turn = 0; // of its owner
        bool operator<(const Job& other) const {
            return std::tuple(deaths, !trusted, turn, size, module.value) <
                   std::tuple(other.deaths, !other.trusted, other.turn, other.size,
                              other.module.value);
        }
    };

    void add(Job job) {
        const size_t before = waiting[job.user]++;
        job.turn = job.trusted ? 0 : before / at_a_turn;
        jobs.insert(std::move(job));
        changed.notify_all();
    }
    Job take(std::set<Job>::const_iterator at) {
        Job job = std::move(jobs.extract(at).value());
        if (--waiting[job.user] == 0)
            waiting.erase(job.user);
        return job;
    }
    bool idle() const { return jobs.empty() && being_read == 0; }
    // The next one that is to be read now; none: jobs.end().
    std::set<Job>::const_iterator next(Share share) const {
        return std::ranges::find_if(
            jobs, [&](const Job& job) { return share == Share::all || job.trusted; });
    }

    const std::shared_ptr<ConfinedProcesses> readers;
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::set<Job> jobs;
    std::map<FileUser, size_t> waiting; // of the jobs
    unsigned being_read = 0;
    std::vector<Finished> finished;
    std::atomic<bool> stop = false;
};

// Two: what only root can have written does not wait for what takes its time to be given up.
UnwindWorker::UnwindWorker(std::shared_ptr<ConfinedProcesses> readers)
    : state_(std::make_shared<State>(std::move(readers))) {
    // They have files that are open, and end readers.
    for (const bool of_trusted : {true, false})
        std::thread([state = state_, of_trusted] {
            begin_thread("tables", capability(CAP_KILL));
            run(*state, of_trusted);
        }).detach();
}

UnwindWorker::~UnwindWorker() {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
    state_->changed.notify_all();
}

void UnwindWorker::run(State& state, bool trusted_only) {
    const auto share = trusted_only ? State::Share::trusted : State::Share::all;
    const UnwindCache cache = UnwindCache::of_user();
    std::unique_lock lock(state.mutex);
    const auto next_deaths = [&] {
        const auto at = state.next(share);
        return at == state.jobs.end() ? most_deaths : at->deaths;
    };
    for (;;) {
        state.changed.wait(lock,
                           [&] { return state.stop || state.next(share) != state.jobs.end(); });
        if (state.stop)
            return;
        // Whatever kills them may be over by then.
        if (const size_t deaths = next_deaths();
            deaths && state.changed.wait_for(lock, pauses_after_deaths[deaths - 1],
                                             [&] { return state.stop || next_deaths() < deaths; }))
            continue;
        const auto at = state.next(share);
        if (at == state.jobs.end())
            continue; // the other thread has taken it
        State::Job job = state.take(at);
        state.being_read++;
        lock.unlock();
        bool died = false;
        auto tables = tables_of(
            *state.readers, *job.source, cache, [&] { return !state.stop; }, died);
        lock.lock();
        state.being_read--;
        if (died && ++job.deaths < most_deaths) {
            state.add(std::move(job));
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
    const FileUser user =
        trusted ? FileUser() : FileOwner::of_file(source.file.get(), source.root.get()).user;
    const std::lock_guard lock(state_->mutex);
    const auto waiting = state_->waiting.find(user);
    if (!trusted && waiting != state_->waiting.end() && waiting->second >= most_waiting) {
        state_->finished.push_back(
            {module, Error{"read call frame information", source.path,
                           "too many other files of its owner wait to be read", ""}});
        return;
    }
    state_->add(
        {0, trusted, size, module, user, std::make_shared<ModuleSource>(std::move(source))});
}

std::vector<UnwindWorker::Finished> UnwindWorker::take() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->finished, {});
}

bool UnwindWorker::wait_idle(std::chrono::steady_clock::time_point deadline) const {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_until(lock, deadline, [&] { return state_->idle(); });
}

bool UnwindWorker::idle() const {
    const std::lock_guard lock(state_->mutex);
    return state_->idle();
}

} // namespace auger
