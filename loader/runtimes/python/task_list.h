// SPDX-License-Identifier: GPL-3.0-or-later
// All tasks of asyncio that a process has. Up to 3.13 they are in a set of weak references, since
// 3.14 in a list of each thread, and in one of the interpreter's of threads that have ended.
#pragma once

#include "loader/runtimes/python/task_reader.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

class TaskList {
  public:
    static constexpr size_t most = 4096; // further ones are not in it

    // Of the first interpreter.
    TaskList(const ReadMemory& read, const TaskSource& source, AsyncioObjects& known);

    // Why it could not be read.
    const std::optional<FunctionProblem>& problem() const { return problem_; }
    size_t size() const { return places_.size(); }
    // 0: it is none any more. By whichever reader: what is there changes all the time.
    uint64_t task(size_t index, TaskReader& reader) const;

  private:
    // As many nodes of a list as one reader has pages for.
    static constexpr size_t most_of_reader = 512;

    void list_references(AsyncioObjects& known);
    void list_threads();
    void follow(uint64_t head);
    uint64_t interpreter(ObjectReader& objects) const;
    void note_failure(const ObjectReader& objects);

    const ReadMemory& read_;
    const TaskSource& source_;
    std::optional<FunctionProblem> problem_;
    std::vector<uint64_t> places_; // of tasks, or of weak references to them
};

} // namespace auger
