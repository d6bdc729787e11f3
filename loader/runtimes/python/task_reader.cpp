// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/task_reader.h"

#include "loader/runtimes/python/coroutine_walk.h"
#include "loader/runtimes/python/task_list.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace auger {
namespace {

// In all versions known.
constexpr uint64_t future_callback = 24, future_callbacks = 40;
constexpr uint64_t builtin_self = 24; // what a builtin method is of
constexpr uint64_t module_dict = 16;

constexpr size_t most_callbacks = 16; // of a future
constexpr size_t most_interpreters = 16;
constexpr size_t most_current_tasks = 64; // one for each loop that runs

FunctionProblem problem_of(ObjectReader& objects) {
    return objects.late()     ? FunctionProblem::late
           : objects.failed() ? FunctionProblem::unreadable
                              : FunctionProblem::gone;
}

// The task of a coroutine among all that there are: of one that waits for its turn only, nothing
// else tells. 0: it is not among them, or there are too many to look through.
uint64_t find_among_all(const ReadMemory& read, const TaskSource& source, uint64_t coroutine,
                        AsyncioObjects& known) {
    const TaskList all(read, source, known);
    TaskReader reader(read, source);
    for (size_t i = 0; i < all.size(); i++) {
        const uint64_t task = all.task(i, reader);
        if (task && reader.objects().word(task + source.asyncio.task_coroutine) == coroutine)
            return task;
    }
    return 0;
}

} // namespace

void TaskReader::read_name(PythonTask& task) {
    const uint64_t name = objects_.word(task.address + source_.asyncio.task_name);
    if (!name)
        return;
    if (objects_.is_a(name, "int")) {
        if (const auto number = objects_.integer(name)) {
            task.number = *number;
            task.name = fmt::format("Task-{}", *number);
        }
    } else if (objects_.is_a(name, "str")) {
        task.name = objects_.text(name, name_limit).value_or("");
    }
}

PythonTask TaskReader::task(uint64_t address) {
    PythonTask task;
    task.address = address;
    task.coroutine = objects_.word(address + source_.asyncio.task_coroutine);
    read_name(task);
    return objects_.failed() ? PythonTask{} : task;
}

bool TaskReader::is_pending(uint64_t future) {
    return objects_.number<uint32_t>(future + source_.asyncio.future_state) == 0 &&
           !objects_.failed();
}

uint64_t TaskReader::waiter(uint64_t future, uint64_t coroutine) {
    if (!objects_.is_a(future, "_asyncio.Future") && !is_task(future))
        return 0;
    std::vector<uint64_t> callbacks;
    // The first is kept apart; the others are pairs with a context.
    if (const uint64_t first = objects_.word(future + future_callback))
        callbacks.push_back(first);
    if (const uint64_t others = objects_.word(future + future_callbacks))
        for (const uint64_t pair : objects_.elements(others, most_callbacks))
            for (const uint64_t callback : objects_.elements(pair, 1))
                callbacks.push_back(callback);
    for (const uint64_t callback : callbacks) {
        if (!callback || objects_.class_of(callback) != "builtin_function_or_method")
            continue;
        const uint64_t task = objects_.word(callback + builtin_self);
        if (task && runs(task, coroutine))
            return task;
    }
    return 0;
}

bool TaskReader::runs(uint64_t task, uint64_t coroutine) {
    return is_task(task) && objects_.word(task + source_.asyncio.task_coroutine) == coroutine &&
           !objects_.failed();
}

uint64_t TaskReader::running_of_threads(uint64_t interpreter, uint64_t coroutine) {
    const wire_python_layout& at = source_.layout.frames;
    uint64_t thread = objects_.word(interpreter + at.interpreter_threads);
    for (size_t i = 0; i < WIRE_PYTHON_THREADS && thread && !objects_.failed(); i++) {
        const uint64_t task = objects_.word(thread + source_.asyncio.thread_running);
        if (task && runs(task, coroutine))
            return task;
        thread = objects_.word(thread + at.thread_next);
    }
    return 0;
}

uint64_t TaskReader::find_in_asyncio(uint64_t interpreter, std::string_view name) {
    const uint64_t modules = objects_.word(interpreter + source_.layout.awaits.interpreter_modules);
    const uint64_t module = modules ? objects_.item(modules, "_asyncio") : 0;
    const uint64_t names = module ? objects_.word(module + module_dict) : 0;
    return names ? objects_.item(names, name) : 0;
}

uint64_t TaskReader::running(uint64_t coroutine, AsyncioObjects& known) {
    const wire_python_layout& at = source_.layout.frames;
    const bool by_threads = source_.asyncio.thread_running != 0;
    uint64_t interpreter = by_threads || !known.current_tasks
                               ? objects_.word(source_.runtime + at.runtime_interpreters)
                               : 0;
    for (size_t i = 0; i < most_interpreters && interpreter && !objects_.failed(); i++) {
        if (by_threads) {
            if (const uint64_t task = running_of_threads(interpreter, coroutine))
                return task;
        } else if ((known.current_tasks = find_in_asyncio(interpreter, "_current_tasks"))) {
            break;
        }
        interpreter = objects_.word(interpreter + at.interpreter_next);
    }
    if (!known.current_tasks || objects_.failed())
        return 0;
    for (const uint64_t task : objects_.values(known.current_tasks, most_current_tasks))
        if (runs(task, coroutine))
            return task;
    if (objects_.failed())
        known.current_tasks = 0; // what it was may be gone
    return 0;
}

bool TaskReader::is_only_interpreter() {
    const wire_python_layout& at = source_.layout.frames;
    const uint64_t interpreter = objects_.word(source_.runtime + at.runtime_interpreters);
    return interpreter && objects_.word(interpreter + at.interpreter_next) == 0 &&
           !objects_.failed();
}

std::variant<PythonTask, FunctionProblem> find_task(const ReadMemory& read,
                                                    const TaskSource& source, uint64_t coroutine,
                                                    AsyncioObjects& known) {
    TaskReader reader(read, source);
    const CoroutineWalk walk = walk_coroutine(reader.objects(), coroutine);
    uint64_t task = 0;
    if (walk.end == CoroutineWalk::End::future)
        task = reader.waiter(walk.future, coroutine);
    else if (walk.end == CoroutineWalk::End::runs)
        task = reader.running(coroutine, known);
    else if (walk.end == CoroutineWalk::End::nothing)
        task = find_among_all(read, source, coroutine, known);
    if (!task || reader.objects().failed())
        return problem_of(reader.objects());
    auto found = read_task(read, source, task);
    if (auto* const whole = std::get_if<PythonTask>(&found)) {
        if (whole->coroutine != coroutine)
            return FunctionProblem::gone;
        if (whole->number && !TaskReader(read, source).is_only_interpreter())
            whole->number = 0;
    }
    return found;
}

std::variant<PythonTask, FunctionProblem> read_task(const ReadMemory& read,
                                                    const TaskSource& source, uint64_t address) {
    PythonTask before;
    for (const bool again : {false, true}) {
        TaskReader reader(read, source);
        if (!reader.is_task(address))
            return problem_of(reader.objects());
        const PythonTask task = reader.task(address);
        if (reader.objects().failed())
            return problem_of(reader.objects());
        if (again && task != before)
            return FunctionProblem::gone;
        before = task;
    }
    return before;
}

} // namespace auger
