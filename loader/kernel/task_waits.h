// SPDX-License-Identifier: GPL-3.0-or-later
// TaskWaits: samples of asyncio's tasks that wait. While one does, its thread runs others, so no
// thread's sample tells of it: its coroutines are read out of the process, at a random moment of
// each period. That takes the target no time, and auger a bounded one: where there are more tasks
// than that is enough for, some are looked at, which stand for all. As of goroutines, only waits
// that are part of a call are told, here of an exchange, or of a span that the task is the key of.
#pragma once

#include "loader/kernel/live_events.h"
#include "loader/kernel/live_filter.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/live_probes.h"
#include "loader/kernel/live_sampling.h"
#include "loader/kernel/live_target.h"
#include "loader/kernel/look_budget.h"
#include "loader/kernel/programs.h"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace auger {

class TaskWaits {
  public:
    TaskWaits(Programs& programs, LiveNames& names, LiveEvents& events, const LiveProbes& probes,
              const LiveSampling& sampling, const LiveTarget& target, const LiveFilter& filter)
        : programs_(programs), names_(names), events_(events), probes_(probes), sampling_(sampling),
          target_(target), filter_(filter) {}

    // When update() has something to do; UINT64_MAX: nothing for now.
    uint64_t due_ns() const;
    void update(uint64_t now_ns);
    // What becomes of waits goes into the ledger: those that were told, those that a gate kept
    // back, and those that were lost, since too many were to be kept, or nobody looked in time.
    void report(LedgerEvent& ledger) const;

  private:
    // Of each task that waited, in their order: spans that it was the key of, that were open then
    // and that no thread worked for.
    using SpansOfTasks = std::vector<std::vector<CallKey>>;
    // Of a CPU's time, at most: one part in so many, of which some is saved up.
    static constexpr LookPace pace = {50, 20'000'000};
    // One look takes no more than that: what is saved up is for other processes, too.
    static constexpr uint64_t slice_ns = 500'000;
    // Likewise of the time of the thread that takes events in, which waits for each look, on a busy
    // machine for longer than that takes.
    static constexpr LookPace waiting_pace = {5, 50'000'000};
    // A process that has no tasks, or cannot be read, is not looked at for so long.
    static constexpr uint64_t pause_ns = 100'000'000;
    // The longest time that one look stands for.
    static constexpr uint64_t longest_ns = 10'000'000'000;
    // Looks a second at most: each is due in the loop that takes events in.
    static constexpr uint32_t most_hz = 1'000;

    struct Process {
        uint64_t looked_ns = 0; // with success, or when it came into sight
        uint64_t tried_ns = 0;
        uint64_t spared_until_ns = 0;
    };

    bool wanted() const;
    uint64_t period_ns() const;
    // Those whose tasks are found and that are observed.
    std::vector<pid_t> observed() const;
    // Returns the CPU time that it took.
    uint64_t look(pid_t pid, Process& process, uint64_t now_ns);
    void tell(pid_t pid, const WaitingTask& task, std::vector<CallKey> spans, uint64_t weight_ns);

    Programs& programs_;
    LiveNames& names_;
    LiveEvents& events_;
    const LiveProbes& probes_;
    const LiveSampling& sampling_;
    const LiveTarget& target_;
    const LiveFilter& filter_;
    // Also of looks that come too late.
    const std::shared_ptr<const OpenSpans> spans_{programs_.open_spans()};
    const std::shared_ptr<const UniqueFd> waiting_{
        std::make_shared<const UniqueFd>(programs_.own_map_fd(MapKind::waiting_tasks))};
    std::map<pid_t, Process> processes_; // that have been looked at
    LookBudget budget_, waiting_budget_;
    std::minstd_rand random_{std::random_device()()};
    uint64_t due_ns_ = 0;
    uint64_t lost_ = 0;
};

} // namespace auger
