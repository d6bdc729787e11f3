// SPDX-License-Identifier: GPL-3.0-or-later
// PythonProcesses: which processes run which CPython: what walks need of it, in the kernel, and
// what names of functions and tasks need.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/python_names.h"
#include "loader/kernel/task_names.h"
#include "loader/runtimes/layout_table.h"
#include "loader/runtimes/python/asyncio_file.h"
#include "loader/runtimes/python/python_file.h"

#include <cstdint>
#include <optional>

namespace auger {

class PythonProcesses {
  public:
    PythonProcesses(int layouts_fd, PythonNames& names, TaskNames& tasks)
        : layouts_fd_(layouts_fd), names_(names), tasks_(tasks) {}

    // The number under which walks find the layout of a file's CPython. Fails when it is of a
    // version that is not known, or when there are too many.
    Result<uint32_t> enter(const PythonFile& file, const FileOwner& owner);
    // The process runs it since it has executed its program, and its _PyRuntime lies there.
    void set(pid_t pid, uint64_t executed_ns, uint32_t number, uint64_t runtime) {
        names_.set_layout(pid, executed_ns, PythonProcess{layouts_[number], runtime});
    }
    // `asyncio`: what the file says that it has _asyncio of.
    void set_tasks(pid_t pid, uint64_t executed_ns, uint32_t number, uint64_t runtime,
                   const std::optional<AsyncioFile>& asyncio);
    // It runs none any more.
    void end(pid_t pid) {
        names_.end(pid);
        tasks_.end(pid);
    }

  private:
    int layouts_fd_;
    PythonNames& names_;
    TaskNames& tasks_;
    LayoutTable<PythonLayout, WIRE_PYTHON_LAYOUTS> layouts_;
};

} // namespace auger
