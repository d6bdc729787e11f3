// SPDX-License-Identifier: GPL-3.0-or-later
// Who awaits whom: from a coroutine to the innermost function that it waits in, and on through the
// tasks that it waits for: awaited themselves, or by gather(), wait(), wait_for() (3.11) and
// TaskGroup.
#pragma once

#include "loader/runtimes/python/coroutine_walk.h"
#include "loader/runtimes/python/task_reader.h"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace auger {

struct AwaitChain {
    static constexpr size_t most_tasks = 16;

    struct Link {
        PythonTask task;                // without an address: not known; of which coroutine is
        std::vector<AwaitFrame> frames; // the outermost first
        size_t others = 0; // unfinished tasks that the link before awaits beside this one

        friend bool operator==(const Link&, const Link&) = default;
    };
    std::vector<Link> tasks; // the first is of the coroutine that was asked for
    // Of the last one.
    CoroutineWalk::End end = CoroutineWalk::End::unreadable;
    std::string awaited;   // the class of an object
    bool is_ready = false; // what it waits for is there: it only waits for its turn

    friend bool operator==(const AwaitChain&, const AwaitChain&) = default;
};

// `unreadable`: there is no coroutine at the address; `gone`: it was at another place each time
// that it was looked at, since it runs. Of several tasks that are awaited one is followed, that
// whose name is the least. `known`: see AsyncioObjects.
std::variant<AwaitChain, FunctionProblem> read_await_chain(const ReadMemory& read,
                                                           const TaskSource& source,
                                                           uint64_t coroutine,
                                                           AsyncioObjects& known);

} // namespace auger
