// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/task_names.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace auger {
namespace {

// Looked at together, of those that were there so short a time ago.
constexpr size_t most_at_once = 32, most_gone_through = 1024;
constexpr uint64_t recent_ns = 200'000'000;

bool is_same_source(const TaskSource& one, const TaskSource& other) {
    return std::memcmp(&one.layout, &other.layout, sizeof one.layout) == 0 &&
           one.asyncio == other.asyncio && one.runtime == other.runtime;
}

// Its name may have become a text meanwhile.
bool is_same_task(const PythonTask& one, const PythonTask& other) {
    return one.address == other.address && one.coroutine == other.coroutine &&
           one.name == other.name;
}

size_t bytes_of_task(const PythonTask& task) {
    return sizeof task + task.name.capacity();
}

} // namespace

void TaskNames::set(pid_t pid, uint64_t executed_ns, const TaskSource& source) {
    const auto* const known = processes_.find(pid);
    if (known && !known->ended && known->executed_ns == executed_ns &&
        is_same_source(*known->layout, source))
        return;
    processes_.set_layout(pid, executed_ns, std::make_shared<const TaskSource>(source));
}

bool TaskNames::may_look(Processes::Process& process) {
    const uint64_t now = clock_ns();
    // Both are asked, so that both go on.
    const bool of_all = budget_.may_look(now, of_all_),
               of_process = process.known.budget.may_look(now, of_process_);
    return of_all && of_process && !process.ended;
}

void TaskNames::spend(Processes::Process& process, uint64_t begin_ns) {
    const uint64_t spent = clock_ns() - begin_ns;
    budget_.spend(spent);
    process.known.budget.spend(spent);
}

void TaskNames::forget(Processes::Process& process, uint64_t coroutine) {
    const auto known = process.known.tasks.find(coroutine);
    if (known == process.known.tasks.end())
        return;
    processes_.discount(process, bytes_of_task(known->second.task) + entry_bytes);
    process.known.tasks.erase(known);
}

// At all that were there a moment ago: each look waits for another thread, which takes long on a
// busy machine.
bool TaskNames::look_again(Processes::Process& process, pid_t pid, uint64_t coroutine) {
    const uint64_t begin = clock_ns();
    auto& tasks = process.known.tasks;
    std::vector<std::pair<uint64_t, uint64_t>> wanted = {
        {coroutine, tasks.at(coroutine).task.address}};
    size_t gone_through = 0;
    for (const auto& [other, task] : tasks) {
        if (wanted.size() >= most_at_once || ++gone_through > most_gone_through)
            break;
        if (other != coroutine && task.last_ns + recent_ns > begin)
            wanted.emplace_back(other, task.task.address);
    }
    const auto answer =
        processes_.read(process, pid, [wanted](const ReadMemory& read, const TaskSource& source) {
            std::vector<std::variant<PythonTask, FunctionProblem>> found;
            for (const auto& [unused, address] : wanted)
                found.push_back(read_task(read, source, address));
            return found;
        });
    spend(process, begin);
    for (size_t i = 0; i < wanted.size(); i++) {
        const auto* const task = answer ? std::get_if<PythonTask>(&(*answer)[i]) : nullptr;
        Task& known = tasks.at(wanted[i].first);
        if (task && is_same_task(*task, known.task))
            known.last_ns = begin;
        else
            forget(process, wanted[i].first);
    }
    return tasks.contains(coroutine);
}

void TaskNames::enter(Processes::Process& process, PythonTask task, uint64_t begin_ns,
                      uint64_t end_ns) {
    Task known{{}, end_ns, end_ns};
    auto& seen = process.known.seen;
    if (task.number) {
        const auto later = std::ranges::lower_bound(seen, task.number, {}, &Seen::number);
        if (later != seen.end())
            known = {{}, later->time_ns, begin_ns};
        else
            seen.push_back({task.number, end_ns});
        if (seen.size() > most_seen)
            seen.pop_front();
    }
    processes_.make_room(process);
    processes_.count(process, bytes_of_task(task) + entry_bytes);
    const uint64_t coroutine = task.coroutine;
    known.task = std::move(task);
    process.known.tasks[coroutine] = std::move(known);
}

void TaskNames::look_for(Processes::Process& process, pid_t pid, uint64_t coroutine) {
    auto& misses = process.known.misses;
    const uint64_t begin = clock_ns();
    const auto missed = misses.find(coroutine);
    if (missed != misses.end() && begin < missed->second.until_ns)
        return;
    auto answer = processes_.read(process, pid,
                                  [coroutine, current = process.known.asyncio](
                                      const ReadMemory& read, const TaskSource& source) {
                                      AsyncioObjects known = current;
                                      auto task = find_task(read, source, coroutine, known);
                                      return std::pair(std::move(task), known);
                                  });
    spend(process, begin);
    const uint64_t end = clock_ns();
    if (answer)
        process.known.asyncio = answer->second;
    if (auto* const task = answer ? std::get_if<PythonTask>(&answer->first) : nullptr) {
        misses.erase(coroutine);
        enter(process, std::move(*task), begin, end);
        return;
    }
    if (misses.size() >= most_misses)
        misses.clear();
    Miss& miss = misses[coroutine];
    miss.pause_ns = std::clamp(2 * miss.pause_ns, first_pause_ns, longest_pause_ns);
    miss.until_ns = end + miss.pause_ns;
}

const std::string& TaskNames::name(pid_t pid, uint64_t coroutine, uint64_t time_ns) {
    static const std::string none;
    auto* const process = processes_.find(pid);
    if (!process)
        return none;
    const auto& tasks = process->known.tasks;
    const auto known = tasks.find(coroutine);
    if (known != tasks.end() && time_ns < known->second.first_ns)
        return none;
    if (known != tasks.end() && time_ns <= known->second.last_ns)
        return known->second.task.name;
    if (!may_look(*process))
        return none;
    if (known == tasks.end() || !look_again(*process, pid, coroutine))
        look_for(*process, pid, coroutine);
    const auto found = tasks.find(coroutine);
    const bool is_of_the_time = found != tasks.end() && time_ns >= found->second.first_ns &&
                                time_ns <= found->second.last_ns;
    return is_of_the_time ? found->second.task.name : none;
}

std::variant<AwaitChain, FunctionProblem> TaskNames::awaits(pid_t pid, uint64_t coroutine) {
    auto* const process = processes_.find(pid);
    if (!process)
        return FunctionProblem::unreadable;
    auto answer = processes_.read(*process, pid,
                                  [coroutine, current = process->known.asyncio](
                                      const ReadMemory& read, const TaskSource& source) {
                                      AsyncioObjects known = current;
                                      return read_await_chain(read, source, coroutine, known);
                                  });
    return answer ? std::move(*answer) : FunctionProblem::late;
}

std::optional<WaitingTasks> TaskNames::waiting(pid_t pid, uint64_t random, uint64_t slice_ns,
                                               std::function<void(uint64_t coroutine)> on_waiting,
                                               uint64_t& cpu_ns) {
    struct Answer {
        std::variant<WaitingTasks, FunctionProblem> tasks;
        AsyncioObjects known;
        uint64_t cpu_ns;
    };
    auto* const process = processes_.find(pid);
    if (!process)
        return std::nullopt;
    auto answer = processes_.read(
        *process, pid,
        [random, slice_ns, on_waiting = std::move(on_waiting),
         current = process->known.asyncio](const ReadMemory& read, const TaskSource& source) {
            AsyncioObjects known = current;
            const uint64_t begin_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
            const auto spent_ns = [begin_ns] {
                return read_clock(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
            };
            const TasksWanted wanted{random, [&] { return spent_ns() < slice_ns; }, on_waiting};
            auto tasks = read_waiting_tasks(read, source, wanted, known);
            return Answer{std::move(tasks), known, spent_ns()};
        });
    if (!answer)
        return std::nullopt;
    process->known.asyncio = answer->known;
    cpu_ns += answer->cpu_ns;
    auto* const waiting = std::get_if<WaitingTasks>(&answer->tasks);
    return waiting ? std::optional(std::move(*waiting)) : std::nullopt;
}

} // namespace auger
