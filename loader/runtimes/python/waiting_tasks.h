// SPDX-License-Identifier: GPL-3.0-or-later
// Which tasks of asyncio wait at this moment, and in what: of a process's tasks some at random,
// since each takes its time to be read.
#pragma once

#include "loader/runtimes/python/await_chain.h"
#include "loader/runtimes/python/task_reader.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

namespace auger {

struct WaitingTask {
    AwaitChain chain;     // begins with the task's coroutine
    uint64_t time_ns = 0; // CLOCK_MONOTONIC, when that had been read
};

struct WaitingTasks {
    size_t tasks = 0;                 // that the process has (TaskList)
    size_t looked_at = 0;             // of these: each as likely as any other
    std::vector<WaitingTask> waiting; // of what was looked at
};

struct TasksWanted {
    uint64_t random = 0;           // says which ones
    std::function<bool()> goes_on; // until it says no, but one task at least is looked at
    std::function<void(uint64_t coroutine)> on_waiting{}; // at once, of each in `waiting`
};

// `known`: see AsyncioObjects.
std::variant<WaitingTasks, FunctionProblem> read_waiting_tasks(const ReadMemory& read,
                                                               const TaskSource& source,
                                                               const TasksWanted& wanted,
                                                               AsyncioObjects& known);

} // namespace auger
