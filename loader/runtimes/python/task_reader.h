// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks of asyncio, as _asyncio compiles them, read out of a process. A coroutine does not know its
// task, so that is found from the outside: one that waits is who is called when that is over, one
// that runs is known to the event loop, one that gave way is looked for among all.
#pragma once

#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/python/object_reader.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace auger {

// What the tasks of a process are found by.
struct TaskSource {
    PythonLayout layout{};
    AsyncioOffsets asyncio{};
    uint64_t runtime = 0; // the address of _PyRuntime
};

struct PythonTask {
    uint64_t address = 0; // 0: none
    uint64_t coroutine = 0;
    std::string name; // UTF-8, "Task-17" where nobody gave it another; empty: it could not be read
    // Of such a name, as long as nobody has asked for it (since 3.12): each task has a greater one
    // than those that were made before it. 0: it is not known, or there are several interpreters,
    // of which each counts for itself.
    uint64_t number = 0;

    friend bool operator==(const PythonTask&, const PythonTask&) = default;
};

// Addresses of what _asyncio keeps, which are looked for while they are 0. Since 3.14 there is
// none.
struct AsyncioObjects {
    uint64_t current_tasks = 0; // _current_tasks: which task each loop runs
    uint64_t all_tasks = 0;     // _all_tasks, or since 3.12 _scheduled_tasks
};

class TaskReader {
  public:
    static constexpr size_t name_limit = 128; // characters

    TaskReader(const ReadMemory& read, const TaskSource& source)
        : objects_(read, source.layout), source_(source) {}

    ObjectReader& objects() { return objects_; }
    // Of a class that inherits from asyncio's, too.
    bool is_task(uint64_t object) { return objects_.is_a(object, "_asyncio.Task"); }
    PythonTask task(uint64_t address);
    // Of a future, and so of a task.
    bool is_pending(uint64_t future);
    // The task of this coroutine, which is called when the future is done; 0: none is.
    uint64_t waiter(uint64_t future, uint64_t coroutine);
    // The task of this coroutine, if it runs; 0: it does not.
    uint64_t running(uint64_t coroutine, AsyncioObjects& known);
    bool is_only_interpreter();
    // Something of the module _asyncio; 0: there is none of this name.
    uint64_t find_in_asyncio(uint64_t interpreter, std::string_view name);

  private:
    void read_name(PythonTask& task);
    bool runs(uint64_t task, uint64_t coroutine);
    uint64_t running_of_threads(uint64_t interpreter, uint64_t coroutine);

    ObjectReader objects_;
    const TaskSource& source_;
};

// The task of a coroutine. `gone`: none was found, or it changed while it was read.
std::variant<PythonTask, FunctionProblem> find_task(const ReadMemory& read,
                                                    const TaskSource& source, uint64_t coroutine,
                                                    AsyncioObjects& known);
// What is at an address where there was one. `gone`: no task, or one that changed meanwhile.
std::variant<PythonTask, FunctionProblem> read_task(const ReadMemory& read,
                                                    const TaskSource& source, uint64_t address);

} // namespace auger
