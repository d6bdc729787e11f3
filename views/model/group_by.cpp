// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/group_by.h"

#include "views/model/stack_labels.h"

#include <algorithm>
#include <array>

namespace auger {

namespace {

std::string thread_label(const Model& model, ThreadId thread) {
    const ThreadInfo& info = model.symbols().thread(thread);
    std::string label = info.comm + " " + std::to_string(info.tid);
    if (model.machines() > 1)
        label += " on " + model.machine(info.machine).name;
    return label;
}

std::string cpu_label(uint16_t cpu) {
    return "cpu " + std::to_string(cpu);
}

constexpr const char* no_task = "{no task}";

std::string_view task_in(const SymbolTables& symbols, StackId stack) {
    return text_in_stack(symbols, stack, ModuleKind::task, "[task ");
}

// Those of several processes and machines with one label do the same work.
std::string golabel_label(const Model& model, StackId stack) {
    const std::string_view label = go_label_text(model.symbols(), stack);
    return label.empty() ? "{no golabel}" : std::string(label);
}

// Of the process, since those that one has forked have equal addresses, and others equal names.
std::string task_label(const Model& model, ThreadId thread, StackId stack) {
    const std::string_view task = task_in(model.symbols(), stack);
    if (task.empty())
        return no_task;
    const ThreadInfo& info = model.symbols().thread(thread);
    std::string label = std::string(task) + " in " + std::to_string(info.pid);
    if (model.machines() > 1)
        label += " on " + model.machine(info.machine).name;
    return label;
}

// A function's name has no blank in it; without one there is the address alone.
std::string coroutine_label(const Model& model, StackId stack) {
    const std::string_view task = task_in(model.symbols(), stack);
    if (task.empty())
        return no_task;
    const size_t end = task.find(' ');
    return end == task.npos ? "{unknown coroutine}" : std::string(task.substr(0, end));
}

struct Row {
    std::string_view key;
    std::string (*label)(const Model&, ThreadId);
};

constexpr std::array rows = {
    // By the process's name.
    Row{"process", [](const Model& model,
                      ThreadId thread) { return std::string(model.process_name(thread)); }},
    // By the thread's name.
    Row{"comm",
        [](const Model& model, ThreadId thread) { return model.symbols().thread(thread).comm; }},
    Row{"tid", thread_label},
    // By the process's control group, when it was first seen.
    Row{"cgroup",
        [](const Model& model, ThreadId thread) {
            const std::string& cgroup = model.symbols().thread(thread).cgroup;
            return cgroup.empty() ? "{unknown cgroup}" : cgroup;
        }},
    // By where it was sampled; of waits, where they ended.
    Row{"cpu", thread_label},
    // By where it ran, of recordings of several machines.
    Row{"machine",
        [](const Model& model, ThreadId thread) {
            const std::string& name = model.machine(model.symbols().thread(thread).machine).name;
            return name.empty() ? "{unknown machine}" : name;
        }},
    // By what its stack says, see task_label().
    Row{"task", thread_label},
    // By what the task's outermost coroutine is of: see coroutine_label().
    Row{"coroutine", thread_label},
    // By what its stack says, see golabel_label().
    Row{"golabel", thread_label},
};

constexpr uint8_t row_of(std::string_view key) {
    return static_cast<uint8_t>(std::ranges::find(rows, key, &Row::key) - rows.begin());
}

} // namespace

constinit const GroupBy GroupBy::process{row_of("process")};
constinit const GroupBy GroupBy::cpu{row_of("cpu")};
constinit const GroupBy GroupBy::task{row_of("task")};
constinit const GroupBy GroupBy::coroutine{row_of("coroutine")};
constinit const GroupBy GroupBy::go_label{row_of("golabel")};
static_assert(row_of("process") == 0, "what GroupBy{} is");

std::optional<GroupBy> GroupBy::named(std::string_view key) {
    const uint8_t row = row_of(key == "host" ? "machine" : key); // as -H calls them
    return row < rows.size() ? std::optional(GroupBy(row)) : std::nullopt;
}

std::vector<std::string_view> GroupBy::names() {
    std::vector<std::string_view> all;
    for (const Row& row : rows)
        all.push_back(row.key);
    return all;
}

std::string_view GroupBy::name() const {
    return rows[row_].key;
}

GroupBy GroupBy::next() const {
    return GroupBy(static_cast<uint8_t>((row_ + 1) % rows.size()));
}

std::string GroupBy::label(const Model& model, ThreadId thread) const {
    return rows[row_].label(model, thread);
}

std::string GroupBy::label(const Model& model, ThreadId thread, StackId stack, uint16_t cpu) const {
    return *this == GroupBy::cpu         ? cpu_label(cpu)
           : *this == GroupBy::task      ? task_label(model, thread, stack)
           : *this == GroupBy::coroutine ? coroutine_label(model, stack)
           : *this == GroupBy::go_label  ? golabel_label(model, stack)
                                         : label(model, thread);
}

} // namespace auger
