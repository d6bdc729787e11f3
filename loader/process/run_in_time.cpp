// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/run_in_time.h"

#include "loader/process/capabilities.h"
#include "loader/process/proc_info.h"

#include <linux/capability.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace auger {
namespace {

constexpr std::chrono::milliseconds one_turn{100};
constexpr int most_turns = 20; // of that, where CPUs are short
// What is known of no user is nobody's.
constexpr auto nobody = static_cast<uid_t>(-1);

// A thread, and what it has been given; both sides hold it.
struct Worker {
    explicit Worker(CapabilitySet its_capabilities) : capabilities(its_capabilities) {}

    const CapabilitySet capabilities; // no more than its maker's
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> work; // empty: done
    bool left = false;          // nobody waits for it any more
    pid_t tid = 0;              // 0: it has not begun
};

// Whom a thread is out for.
struct Out {
    const Worker* worker;
    pid_t pid;
    uid_t user;
};

struct Workers {
    std::mutex mutex; // of what follows
    std::vector<std::shared_ptr<Worker>> idle;
    std::vector<Out> out;
};

thread_local bool is_worker = false;

// Never destroyed: a thread that is stuck may come back while the process ends.
Workers& workers() {
    static auto* all = new Workers;
    return *all;
}

// What the calling thread has to look into processes and their files. What has been mapped is
// opened by the first of the last two, or by the second where that is all there is.
CapabilitySet own_capabilities() {
    const CapabilitySet own = effective_capabilities(),
                        checkpoint = capability(CAP_CHECKPOINT_RESTORE);
    return own & (capability(CAP_SYS_PTRACE) | capability(CAP_DAC_READ_SEARCH) |
                  (own & checkpoint ? checkpoint : capability(CAP_SYS_ADMIN)));
}

void run(const std::shared_ptr<Worker>& worker) {
    begin_thread("memory", worker->capabilities);
    is_worker = true;
    std::unique_lock lock(worker->mutex);
    worker->tid = gettid();
    while (!worker->left) {
        if (!worker->work) {
            worker->changed.wait(lock);
            continue;
        }
        const auto work = worker->work;
        lock.unlock();
        work();
        lock.lock();
        worker->work = nullptr;
        worker->changed.notify_all();
    }
    lock.unlock();
    const std::lock_guard all(workers().mutex);
    std::erase_if(workers().out, [&](const Out& out) { return out.worker == worker.get(); });
}

uid_t user_of(pid_t pid) {
    const auto user = uid_of(pid);
    return user ? *user : nobody;
}

// How one that has waited is waited for, and whether it is waited for at all.
enum class Patience { none, short_one, long_one };

// With the lock held.
Patience patience_for(const std::vector<Out>& out, pid_t pid) {
    if (out.empty())
        return Patience::long_one;
    const uid_t user = user_of(pid);
    const auto of_process = std::ranges::count(out, pid, &Out::pid),
               of_user = std::ranges::count(out, user, &Out::user);
    if (of_process >= most_out_of_process || of_user >= most_out_of_user || out.size() >= most_out)
        return Patience::none;
    return of_user > 0 ? Patience::short_one : Patience::long_one;
}

// One that may do what the calling thread may; null: no more threads can be made. With the lock
// held.
std::shared_ptr<Worker> take_idle(std::vector<std::shared_ptr<Worker>>& idle) {
    const CapabilitySet own = own_capabilities();
    const auto fit =
        std::ranges::find(idle, own, [](const auto& one) { return one->capabilities; });
    if (fit != idle.end()) {
        auto worker = std::move(*fit);
        idle.erase(fit);
        return worker;
    }
    auto worker = std::make_shared<Worker>(own);
    try {
        std::thread(run, worker).detach();
    } catch (const std::system_error&) {
        return nullptr;
    }
    return worker;
}

// Whether a thread of ours executes, or would if it had a CPU: it waits for no memory.
bool is_runnable(pid_t tid) {
    if (tid == 0)
        return true;
    std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
    std::string line;
    std::getline(file, line);
    return line.find(") R ") != line.npos;
}

// In whatever it waits for, such as a lock of the other process's mappings, it may wait for
// somebody who waits for a CPU: a process that forks holds that lock.
int turns_for_load() {
    std::ifstream file("/proc/loadavg");
    std::string line;
    std::getline(file, line);
    return turns_of_patience(line, sysconf(_SC_NPROCESSORS_ONLN));
}

} // namespace

int turns_of_patience(const std::string& loadavg, long cpus) {
    // "0.20 0.18 0.12 RUNNABLE/TOTAL LAST_PID"
    std::istringstream fields(loadavg);
    std::string load;
    long runnable = 0;
    fields >> load >> load >> load >> runnable;
    cpus = std::max(cpus, 1L);
    const long enough = std::clamp(runnable, 1L, most_turns * cpus);
    return static_cast<int>((enough + cpus - 1) / cpus);
}

bool run_in_time(pid_t pid, std::function<void()> work, int tenths) {
    if (is_worker) { // who waits for it waits for all that it does
        work();
        return true;
    }
    Workers& all = workers();
    std::shared_ptr<Worker> worker;
    // Who is to wait for somebody's memory again and again loads the machine first.
    auto patience = Patience::none;
    {
        const std::lock_guard lock(all.mutex);
        patience = patience_for(all.out, pid);
        if (patience != Patience::none)
            worker = take_idle(all.idle);
    }
    if (!worker)
        return false;
    std::unique_lock lock(worker->mutex);
    worker->work = std::move(work);
    worker->changed.notify_all();
    const auto done = [&] { return !worker->work; };
    const bool is_long = patience == Patience::long_one;
    const int most = std::max(most_turns, tenths);
    for (int turn = 1; !worker->changed.wait_for(lock, one_turn, done) && turn < most; turn++) {
        const pid_t tid = worker->tid;
        lock.unlock();
        const bool goes_on =
            (is_long && (turn < tenths || turn < turns_for_load())) || is_runnable(tid);
        lock.lock();
        if (!goes_on)
            break;
    }
    const bool in_time = done();
    worker->left = !in_time;
    // It takes both locks, one after the other, when it comes back.
    const std::lock_guard lock_all(all.mutex);
    if (in_time)
        all.idle.push_back(worker);
    else
        all.out.push_back({worker.get(), pid, user_of(pid)});
    return in_time;
}

} // namespace auger
