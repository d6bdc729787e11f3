// SPDX-License-Identifier: GPL-3.0-or-later
// Which tasks there are, and which of them wait, in lists that processes make up.
#include "loader/runtimes/python/task_list.h"
#include "loader/runtimes/python/waiting_tasks.h"
#include "tests/unit/python_awaits.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <variant>
#include <vector>

namespace auger {
namespace {

using testing::UnorderedElementsAre;

class PythonTaskLists : public WaitingPython {};

TEST_P(PythonTaskLists, ThoseThatWaitAreAmongAll) {
    const auto waiting_of_all = [&](uint64_t random, bool goes_on) {
        const auto answer = read_waiting_tasks(image.memory.reader(), source,
                                               {random, [goes_on] { return goes_on; }, {}}, known);
        EXPECT_TRUE(std::holds_alternative<WaitingTasks>(answer));
        return std::get<WaitingTasks>(answer);
    };
    image.put_running({});
    EXPECT_EQ(waiting_of_all(1, true).tasks, 0u);
    const Waiting one = waiting(image.text("worker")), other = waiting(image.text("other")),
                  turn = waiting(image.text("turn")), running = waiting(image.text("running"));
    image.put_state(turn.outer, test::PythonImage::created);
    image.put_state(running.outer, test::PythonImage::runs);
    image.put_running({running.task},
                      {other.task, image.text("no task"), running.task, turn.task, one.task});
    const WaitingTasks all = waiting_of_all(1, true);
    EXPECT_EQ(all.tasks, 5u);
    EXPECT_EQ(all.looked_at, 5u);
    std::vector<std::string> names;
    for (const auto& [chain, time_ns] : all.waiting)
        names.push_back(chain.tasks.front().task.name + (chain.is_ready ? " (ready)" : ""));
    EXPECT_THAT(names, UnorderedElementsAre("worker", "other", "turn (ready)"));
    // As many as time is enough for.
    EXPECT_EQ(waiting_of_all(1, false).looked_at, 1u);
    EXPECT_EQ(waiting_of_all(1, false).tasks, 5u);
    std::set<std::string> ones;
    for (uint64_t random = 1; random < 100; random++)
        for (const auto& [chain, time_ns] : waiting_of_all(random, false).waiting)
            ones.insert(chain.tasks.front().task.name);
    EXPECT_EQ(ones.size(), 3u);
}

TEST_P(PythonTaskLists, ListsOfTasksMayBeLong) {
    if (!source.asyncio.task_node)
        return; // they are in a set
    std::vector<uint64_t> tasks;
    for (uint64_t i = 0; i < 1'500; i++)
        tasks.push_back(image.task(image.coroutine(image.code("outer"), 0), image.integer(i)));
    image.put_running({tasks[0]}, tasks);
    const TaskList all(image.memory.reader(), source, known);
    EXPECT_EQ(all.problem(), std::nullopt);
    std::vector<uint64_t> seen;
    const ReadMemory read = image.memory.reader();
    for (size_t i = 0; i < all.size(); i++) {
        TaskReader reader(read, source);
        seen.push_back(all.task(i, reader));
    }
    EXPECT_EQ(seen, tasks);
}

// A list may lead anywhere, and to itself.
TEST_P(PythonTaskLists, ListsOfTasksAreBounded) {
    const Waiting one = waiting(image.text("worker"));
    image.put_running({one.task}, {one.task});
    const uint64_t node = one.task + source.asyncio.task_node;
    if (source.asyncio.task_node) // else they are in a set
        image.memory.put(node, node);
    const TaskList all(image.memory.reader(), source, known);
    EXPECT_EQ(all.problem(), std::nullopt);
    EXPECT_EQ(all.size(), source.asyncio.task_node ? TaskList::most : 1);
}

INSTANTIATE_TEST_SUITE_P(Versions, PythonTaskLists, testing::Range(0, 5));

} // namespace
} // namespace auger
