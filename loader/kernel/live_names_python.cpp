// SPDX-License-Identifier: GPL-3.0-or-later
// Frames of Python and tasks of its event loops: the part of LiveNames that knows them.
#include "loader/kernel/live_names.h"

#include "bpf/unwind_table.h"
#include "loader/runtimes/python/module_name.h"

#include <fmt/format.h>

#include <utility>

namespace auger {
namespace {

// Further tasks share a name. A server may have one a request; most get the memory, and so
// the address, of an earlier one.
constexpr size_t most_tasks = 10'000;
// Of further ones it is told what they run.
constexpr size_t most_task_functions = 10'000;

} // namespace

// A task is known by what its outermost coroutine is of, and by its name, or where the coroutine
// lies, as Python's id() of it.
LocationId LiveNames::intern_task(std::string_view function, std::string_view name) {
    Frame frame;
    frame.function = function.empty() ? fmt::format("[task {}]", name)
                                      : fmt::format("[task {} {}]", function, name);
    const auto is_further = [&](size_t most) {
        return tasks_.size() >= most && !tasks_.contains(frame.function);
    };
    if (is_further(most_tasks) && !function.empty())
        frame.function = fmt::format("[task {} (others)]", function);
    if (is_further(most_tasks + (function.empty() ? 0 : most_task_functions)))
        frame.function = "[task (others)]";
    const auto [found, fresh] = tasks_.emplace(frame.function, tasks_.size());
    const LocationId id = locate({task_module, found->second, false});
    if (fresh)
        sink_.on_frames(id, {&frame, 1});
    return id;
}

std::string LiveNames::task_function(std::span<const pid_t> lineage, uint64_t code,
                                     uint32_t cookie) {
    constexpr uint64_t no_offset = uint64_t{WIRE_PYTHON_NO_OFFSET} << 32;
    const PythonNames::Name& name =
        python_.name(lineage, {WIRE_FRAME_PYTHON | code, no_offset | cookie});
    // What has no name says why, in brackets and without a file.
    if (name.frame.file.empty())
        return {};
    const std::string_view module = python_module(name.frame.file);
    return module.empty() ? name.frame.function : fmt::format("{}.{}", module, name.frame.function);
}

// A frame of Python's, or one of the two pairs that say which task runs.
void LiveNames::append_python_words(pid_t pid, uint64_t time_ns, uint64_t first, uint64_t second) {
    const uint64_t address = first & ~uint64_t{WIRE_FRAME_PYTHON};
    switch (second >> 32) {
    case WIRE_PYTHON_TASK_FUNCTION:
        task_function_ =
            task_function(lineage(pid, time_ns), address, static_cast<uint32_t>(second));
        break;
    case WIRE_PYTHON_TASK_ADDRESS: {
        const std::string function = std::exchange(task_function_, {});
        // When a waker ran it is not known: some time before, so no name is proven.
        const std::string& name = task_names_.name(pid, address, is_waker_ ? 0 : time_ns);
        stack_.push_back(intern_task(
            function, name.empty() || function.empty() ? fmt::format("{:#x}", address) : name));
        break;
    }
    default: {
        // Who may wait can read what the kernel's side could not.
        if (static_cast<uint32_t>(second) == WIRE_PYTHON_UNREAD)
            second |= python_
                          .ask(lineage(pid, time_ns),
                               [address](const ReadMemory& read, const PythonProcess& process) {
                                   return python_code_cookie(read, *process.layout, address);
                               })
                          .value_or(WIRE_PYTHON_UNREAD);
        const PythonNames::Name& name = python_.name(lineage(pid, time_ns), {first, second});
        stack_.push_back(
            intern_named(pid, ModuleKind::python, name.file, name.address, {&name.frame, 1}));
    }
    }
}

std::string LiveNames::function_of(pid_t pid, const AwaitChain::Link& task) {
    if (task.frames.empty())
        return {};
    const AwaitFrame& outermost = task.frames.front();
    return task_function({&pid, 1}, outermost.code, static_cast<uint32_t>(outermost.second));
}

TaskSamples::WaitStack LiveNames::read_awaits(pid_t pid, const AwaitChain& chain) {
    TaskSamples::WaitStack wait;
    for (auto link = chain.tasks.rbegin(); link != chain.tasks.rend(); ++link) {
        for (auto frame = link->frames.rbegin(); frame != link->frames.rend(); ++frame) {
            const PythonNames::Name& name =
                python_.name(pid, {WIRE_FRAME_PYTHON | frame->code, frame->second});
            wait.locations.push_back(
                intern_named(pid, ModuleKind::python, name.file, name.address, {&name.frame, 1}));
        }
        std::string name =
            link->task.name.empty() ? fmt::format("{:#x}", link->task.coroutine) : link->task.name;
        if (link->others)
            name += fmt::format(" and {} more", link->others);
        wait.tasks.push_back({wait.locations.size(), function_of(pid, *link), std::move(name)});
    }
    return wait;
}

void LiveNames::append_wait(const TaskSamples::WaitStack& wait) {
    auto task = wait.tasks.begin();
    for (size_t place = 0; place <= wait.locations.size(); place++) {
        for (; task != wait.tasks.end() && task->place == place; ++task)
            stack_.push_back(intern_task(task->function, task->name));
        if (place < wait.locations.size())
            stack_.push_back(wait.locations[place]);
    }
}

std::vector<LocationId> LiveNames::await_stack(pid_t pid, uint64_t time_ns,
                                               const AwaitChain& chain) {
    know_process(pid, time_ns);
    stack_.clear();
    append_wait(read_awaits(pid, chain));
    return stack_;
}

TaskSamples::WaitStack LiveNames::parked_stack(pid_t pid, uint64_t time_ns, const AwaitChain& chain,
                                               bool with_tasks) {
    know_process(pid, time_ns);
    TaskSamples::WaitStack wait = read_awaits(pid, chain);
    if (!with_tasks)
        wait.tasks.clear();
    for (TaskSamples::WaitStack::Task& task : wait.tasks)
        task.place++;
    wait.locations.insert(
        wait.locations.begin(),
        intern({syscall_module, chain.is_ready ? queued_goroutine : parked_task, false}));
    return wait;
}

StackId LiveNames::stack_of(const TaskSamples::WaitStack& wait) {
    stack_.clear();
    append_wait(wait);
    return interner_.stack(stack_);
}

} // namespace auger
