// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/switch_meter.h"

#include "loader/base/fd.h"
#include "loader/base/quantile.h"
#include "loader/base/read_clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <ctime>
#include <future>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace auger {

namespace {

constexpr unsigned rounds = 20, enough_batches = 21;
constexpr uint64_t longest_ns = 30 * millisecond_ns;

struct Pipe {
    UniqueFd read, write;
};

std::optional<Pipe> make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return {};
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

constexpr char next_round = 'n', last_round = 'l';

bool pass(const UniqueFd& to, char word = next_round) {
    return write(to.get(), &word, 1) == 1;
}

bool wait_for(const UniqueFd& from) {
    char word = last_round;
    return read(from.get(), &word, 1) == 1 && word == next_round;
}

void stay_on(int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<unsigned>(cpu), &here);
    pthread_setaffinity_np(pthread_self(), sizeof(here), &here);
}

struct Thread {
    pid_t tid = 0;
    clockid_t clock{};
};

Thread this_thread() {
    Thread self{gettid(), {}};
    pthread_getcpuclockid(pthread_self(), &self.clock);
    return self;
}

// The thread that the partner answers.
std::optional<double> lead(const SwitchTrial& trial, const Thread& partner, const Pipe& there,
                           const Pipe& back) {
    const Thread self = this_thread();
    if (trial.begin && !trial.begin({self.tid, partner.tid}))
        return {};
    const auto cost_ns = [&] {
        const uint64_t known_ns = trial.known_ns ? trial.known_ns() : 0;
        return static_cast<int64_t>(read_clock(self.clock) + read_clock(partner.clock) - known_ns);
    };
    std::vector<double> costs;
    const uint64_t begin_ns = read_clock(CLOCK_MONOTONIC);
    uint64_t taken_ns = 0;
    while (costs.size() < enough_batches && taken_ns < longest_ns) {
        const int64_t before_ns = cost_ns();
        for (unsigned i = 0; i < rounds; i++)
            if (!pass(there.write) || !wait_for(back.read))
                return {};
        costs.push_back(static_cast<double>(cost_ns() - before_ns) / rounds);
        taken_ns = read_clock(CLOCK_MONOTONIC) - begin_ns;
    }
    return quantile(std::move(costs), trial.quantile);
}

} // namespace

std::optional<double> measure_round(const SwitchTrial& trial) {
    auto there = make_pipe(), back = make_pipe();
    if (!there || !back)
        return {};
    const int cpu = sched_getcpu();
    std::promise<Thread> told;
    std::optional<double> result;
    // Before the partner is waited for, whatever became of the other one.
    struct End {
        const UniqueFd& to;
        ~End() { pass(to, last_round); }
    };
    try {
        std::jthread partner([&] {
            stay_on(cpu);
            told.set_value(this_thread());
            while (wait_for(there->read) && pass(back->write)) {
            }
        });
        const End end{there->write};
        const Thread follower = told.get_future().get();
        std::jthread leader([&] {
            stay_on(cpu);
            result = lead(trial, follower, *there, *back);
        });
        leader.join();
    } catch (const std::system_error&) {
        return {}; // no more threads
    }
    return result;
}

} // namespace auger
