// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/python_tasks.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>

namespace auger::test {

std::string TaskStretch::frame() const {
    return task ? fmt::format("[task python_tasks.{} {:#x}]", name, task) : "";
}

std::string TaskStretch::named_frame() const {
    return task_name.empty() ? frame() : fmt::format("[task python_tasks.{} {}]", name, task_name);
}

SpanDefinition request_of_task() {
    using Role = SpanPoint::Role;
    SpanDefinition span;
    span.points = {{.role = Role::from, .probe = "libc:sched_get_priority_max", .key = "task"},
                   {.role = Role::to, .probe = "libc:sched_get_priority_min", .key = "task"},
                   {.role = Role::park, .probe = "PyIter_Send", .at_return = true, .key = "arg0"},
                   {.role = Role::resume, .probe = "PyIter_Send", .key = "arg0"}};
    span.text = "from libc:sched_get_priority_max to libc:sched_get_priority_min";
    return span;
}

bool ends_by_a_jump(const Error& error) {
    return error.message().find("its return is not seen") != std::string::npos;
}

bool ends_at_a_jump(const std::string& python) {
    return python.find("3.15") != std::string::npos;
}

std::map<std::string, uint64_t> tasks_of_frames(const std::vector<TaskStretch>& stretches) {
    std::map<std::string, uint64_t> tasks;
    for (const TaskStretch& stretch : stretches)
        for (const std::string& frame : {stretch.frame(), stretch.named_frame()})
            tasks.emplace(frame, stretch.task);
    return tasks;
}

TaskInStack task_in(Session& session, StackId stack) {
    const SymbolTables& symbols = session.model().symbols();
    TaskInStack found;
    std::string last;
    for (const LocationId location : symbols.stack(stack)) {
        const auto kind = symbols.module(symbols.location(location).module).kind;
        const std::string name(symbols.name(symbols.found_frames(location).back().function));
        if (kind == ModuleKind::task)
            found = {name, last, found.count + 1};
        else if (kind == ModuleKind::python)
            last = name;
    }
    return found;
}

void PythonTasks::SetUp() {
    KernelTest::SetUp();
    if (!std::filesystem::exists(GetParam()))
        GTEST_SKIP() << GetParam() << " is not installed";
}

// Until a table is there stacks are cut, and nobody knows of a CPython.
void PythonTasks::observe(Session& session, Program& program) {
    program.wait_ready();
    session.observe(program.pid());
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
}

std::vector<TaskStretch> PythonTasks::run(Session& session, Program& program) {
    program.go();
    EXPECT_TRUE(session.pump_until([&] { return std::filesystem::exists(path_ + ".done"); }));
    must(session.backend().set_sampling({}));
    must(session.backend().refresh()); // names go with the process
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(std::chrono::seconds(60));
    std::vector<TaskStretch> stretches;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
        const auto told = nlohmann::json::parse(line);
        stretches.push_back({told["phase"], told["pid"], told["tid"], told["begin"], told["end"],
                             told["cpu"], told["task"], told["name"], told["task_name"]});
    }
    return stretches;
}

std::string python_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param.substr(info.param.rfind('/') + 1);
    for (char& letter : name)
        letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
    return name;
}

} // namespace auger::test
