// SPDX-License-Identifier: GPL-3.0-or-later
// What tests/programs/python_tasks.py says of the tasks that it runs, and what stacks say.
#pragma once

#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/temporary_folder.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace auger::test {

inline const std::string tasks_program = AUGER_SOURCE_DIR "/tests/programs/python_tasks.py";

// In which a thread ran one task, or none (0).
struct TaskStretch {
    std::string phase;
    uint32_t pid = 0, tid = 0;
    uint64_t begin_ns = 0, end_ns = 0, cpu_ns = 0;
    uint64_t task = 0;
    std::string name;      // of its coroutine
    std::string task_name; // empty: none that is read

    // As stacks have it, before its name is known, and after that; empty: none.
    std::string frame() const;
    std::string named_frame() const;
};

// From a task's call of sched_get_priority_max() to that of sched_get_priority_min(), of which it
// is known when the task is parked.
SpanDefinition request_of_task();
// PyIter_Send() does in Debian unstable's 3.13 and 3.14; what it jumps to returns to the loop.
bool ends_by_a_jump(const Error& error);
// As it does in 3.15, of which one call is known, and that of _asyncio's file is not: calls from
// there end at the jump, as is told of them (docs/howto/python.md).
bool ends_at_a_jump(const std::string& python);

// The tasks that are meant by frames of stacks.
std::map<std::string, uint64_t> tasks_of_frames(const std::vector<TaskStretch>& stretches);

struct TaskInStack {
    std::string frame;   // empty: none
    std::string further; // the next function of Python's inwards from it
    size_t count = 0;
};

TaskInStack task_in(Session& session, StackId stack);

// Of each of pythons().
class PythonTasks : public KernelTest, public testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override;
    void observe(Session& session, Program& program);
    // Runs the program to its end, and reads what it says.
    std::vector<TaskStretch> run(Session& session, Program& program);

    TemporaryFolder folder_;
    const std::string path_ = folder_.path("tasks");
};

std::string python_name(const testing::TestParamInfo<std::string>& info);

} // namespace auger::test
