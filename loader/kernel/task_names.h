// SPDX-License-Identifier: GPL-3.0-or-later
// TaskNames: what asyncio calls its tasks, by their coroutines, and what these await. A coroutine's
// address is soon another's, and it is read some milliseconds after it was sampled. So a name is
// believed of the time between two looks that have found the same task there. What has only been
// looked at once is believed where its number tells that it was made before the sample
// (since 3.12): a later one had been seen by then. Others' first samples have none.
#pragma once

#include "loader/kernel/look_budget.h"
#include "loader/kernel/process_names.h"
#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/python/await_chain.h"
#include "loader/runtimes/python/task_reader.h"
#include "loader/runtimes/python/waiting_tasks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace auger {

class TaskNames {
  public:
    // See ProcessNames.
    static constexpr size_t most_bytes = 64 << 20, most_bytes_of_process = 8 << 20;

    // Of all processes together, and of each.
    explicit TaskNames(LookPace of_all = {10, 10'000'000}, LookPace of_process = {20, 5'000'000})
        : of_all_(of_all), of_process_(of_process) {}

    // The process runs a CPython whose tasks are found so, since it has executed its program.
    void set(pid_t pid, uint64_t executed_ns, const TaskSource& source);
    // It runs none any more.
    void end(pid_t pid) { processes_.end(pid); }

    // Of the task whose outermost coroutine lay there at that time, which is not in the future;
    // empty: not known. Until the next call.
    const std::string& name(pid_t pid, uint64_t coroutine, uint64_t time_ns);
    // Processes whose tasks are found.
    std::vector<pid_t> processes() const { return processes_.running(); }
    // Which tasks wait now: looked for in `slice_ns` of CPU time; `random` says which ones. Of each
    // `on_waiting` is told at once, in another thread, which may still run behind an answer that
    // came too late: nothing, as where it could not be read. `cpu_ns`: what it took is added.
    std::optional<WaitingTasks> waiting(pid_t pid, uint64_t random, uint64_t slice_ns,
                                        std::function<void(uint64_t coroutine)> on_waiting,
                                        uint64_t& cpu_ns);
    // What a coroutine awaits now.
    std::variant<AwaitChain, FunctionProblem> awaits(pid_t pid, uint64_t coroutine);
    size_t memory_bytes() const { return processes_.bytes(); }

  private:
    struct Task {
        PythonTask task;
        // It was the same from here to there.
        uint64_t first_ns = 0, last_ns = 0;
    };
    // That was looked for and not found.
    struct Miss {
        uint64_t until_ns = 0; // it is not looked for again
        uint64_t pause_ns = 0;
    };
    static constexpr uint64_t first_pause_ns = 5'000'000, longest_pause_ns = 100'000'000;
    static constexpr size_t most_misses = 1'000; // of a process
    static constexpr size_t entry_bytes = 64;    // of an entry besides what it holds

    // When a task of this number, the greatest up to then, had been seen.
    struct Seen {
        uint64_t number, time_ns;
    };
    static constexpr size_t most_seen = 256;

    struct Known {
        std::unordered_map<uint64_t, Task> tasks;  // by coroutine
        std::unordered_map<uint64_t, Miss> misses; // likewise
        std::deque<Seen> seen;                     // in their order
        AsyncioObjects asyncio;
        LookBudget budget;
        void clear() {
            tasks.clear();
            misses.clear();
        }
    };
    using Processes = ProcessNames<TaskSource, Known>;

    // Whether the task is there still; false: it is not known any more.
    bool look_again(Processes::Process& process, pid_t pid, uint64_t coroutine);
    void look_for(Processes::Process& process, pid_t pid, uint64_t coroutine);
    void enter(Processes::Process& process, PythonTask task, uint64_t begin_ns, uint64_t end_ns);
    bool may_look(Processes::Process& process);
    void spend(Processes::Process& process, uint64_t begin_ns);
    void forget(Processes::Process& process, uint64_t coroutine);

    Processes processes_{most_bytes, most_bytes_of_process};
    const LookPace of_all_, of_process_;
    LookBudget budget_;
};

} // namespace auger
