// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/waiting_tasks.h"

#include "loader/base/read_clock.h"
#include "loader/runtimes/python/task_list.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace auger {
namespace {

bool waits(const AwaitChain& chain) {
    using End = CoroutineWalk::End;
    return chain.end == End::future || chain.end == End::object || chain.end == End::nothing ||
           chain.end == End::begins || chain.end == End::too_deep;
}

// 0: it has ended.
uint64_t coroutine_of(TaskReader& reader, uint64_t task) {
    const uint64_t coroutine = task ? reader.task(task).coroutine : 0;
    return coroutine && reader.objects().class_of(coroutine) == "coroutine" ? coroutine : 0;
}

} // namespace

std::variant<WaitingTasks, FunctionProblem> read_waiting_tasks(const ReadMemory& read,
                                                               const TaskSource& source,
                                                               const TasksWanted& wanted,
                                                               AsyncioObjects& known) {
    const TaskList all(read, source, known);
    if (all.problem())
        return *all.problem();
    std::vector<size_t> turns(all.size());
    std::iota(turns.begin(), turns.end(), size_t{0});
    std::ranges::shuffle(turns, std::mt19937_64(wanted.random));
    WaitingTasks found;
    found.tasks = all.size();
    for (const size_t index : turns) {
        if (found.looked_at && !wanted.goes_on())
            break;
        found.looked_at++;
        TaskReader of_this(read, source);
        const uint64_t task = all.task(index, of_this);
        const uint64_t coroutine = coroutine_of(of_this, task);
        if (of_this.objects().late())
            return FunctionProblem::late;
        if (!coroutine)
            continue;
        auto chain = read_await_chain(read, source, coroutine, known);
        auto* const whole = std::get_if<AwaitChain>(&chain);
        if (!whole || !waits(*whole))
            continue;
        const uint64_t time_ns = read_clock(CLOCK_MONOTONIC);
        if (wanted.on_waiting)
            wanted.on_waiting(coroutine);
        // The chain knows the task only where what that waits for leads back to it.
        if (PythonTask& first = whole->tasks.front().task; !first.address)
            first = of_this.task(task);
        found.waiting.push_back({std::move(*whole), time_ns});
    }
    return found;
}

} // namespace auger
