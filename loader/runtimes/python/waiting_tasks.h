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

struct WaitingTasks {
    size_t tasks = 0;                // that the process has (TaskList)
    size_t looked_at = 0;            // of these: each as likely as any other
    std::vector<AwaitChain> waiting; // of what was looked at; each begins with the task's coroutine
};

// Until `goes_on` says no, but at one task at least. `random` says which ones; `known`: see
// AsyncioObjects.
std::variant<WaitingTasks, FunctionProblem>
read_waiting_tasks(const ReadMemory& read, const TaskSource& source, uint64_t random,
                   const std::function<bool()>& goes_on, AsyncioObjects& known);

} // namespace auger
