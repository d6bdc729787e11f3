// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/run_in_time.h"

#include "loader/process/capabilities.h"

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

namespace auger {
namespace {

constexpr std::chrono::milliseconds patience{100};
constexpr int most_turns = 20; // of that, where CPUs are short
constexpr int most_stuck = 64; // threads

// A thread, and what it has been given; both sides hold it.
struct Worker {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> work; // empty: done
    bool left = false;          // nobody waits for it any more
    pid_t tid = 0;              // 0: it has not begun
};

struct Workers {
    std::mutex mutex; // of what follows; held by who waits, so there is one at a time
    std::shared_ptr<Worker> idle;
    int stuck = 0;
};

// Never destroyed: a thread that is stuck may come back while the process ends.
Workers& workers() {
    static auto* all = new Workers;
    return *all;
}

void run(const std::shared_ptr<Worker>& worker) {
    begin_thread("memory", capability(CAP_SYS_PTRACE) | capability(CAP_DAC_READ_SEARCH));
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
    workers().stuck--;
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

bool run_in_time(std::function<void()> work) {
    Workers& all = workers();
    const std::lock_guard one_at_a_time(all.mutex);
    if (!all.idle) {
        if (all.stuck >= most_stuck)
            return false;
        auto worker = std::make_shared<Worker>();
        try {
            std::thread(run, worker).detach();
        } catch (const std::system_error&) {
            return false; // no more threads can be made
        }
        all.idle = std::move(worker);
    }
    // Who is to wait for somebody else's memory again and again loads the machine first.
    const bool patient = all.stuck == 0;
    Worker& worker = *all.idle;
    std::unique_lock lock(worker.mutex);
    worker.work = std::move(work);
    worker.changed.notify_all();
    const auto done = [&] { return !worker.work; };
    for (int turn = 1; !worker.changed.wait_for(lock, patience, done) && turn < most_turns;
         turn++) {
        const pid_t tid = worker.tid;
        lock.unlock();
        const bool goes_on = is_runnable(tid) || (patient && turn < turns_for_load());
        lock.lock();
        if (!goes_on)
            break;
    }
    if (done())
        return true;
    worker.left = true;
    lock.unlock();
    all.idle.reset();
    all.stuck++;
    return false;
}

} // namespace auger
