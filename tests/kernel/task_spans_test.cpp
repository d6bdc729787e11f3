// SPDX-License-Identifier: GPL-3.0-or-later
// Spans of tasks of CPython's event loops, which one thread runs in turn; see tasks_test.cpp.
#include "tests/kernel/python_chains.h"
#include "tests/kernel/python_tasks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

namespace auger::test {
namespace {

using Role = SpanPoint::Role;

class PythonTaskSpans : public PythonTasks {};

// Sixteen tasks in turn on one thread, each in a request. What begins and ends while no task runs
// is no span.
TEST_P(PythonTaskSpans, AreKeysOfSpans) {
    if (ends_at_a_jump(GetParam()))
        GTEST_SKIP() << "calls of PyIter_Send() end before the task has run";
    Program program(GetParam(), {tasks_program, path_});
    Session session;
    observe(session, program);
    const ProbeId id{100};
    auto added = session.backend().add_probe({id, "request", {}, {}, request_of_task()});
    if (!added && ends_by_a_jump(added.error()))
        GTEST_SKIP() << added.error().message();
    session.report = must(std::move(added));
    must(session.backend().set_sampling({.rate_hz = 1999, .wall = true, .tasks = true}));
    auto stretches = run(session, program);
    std::erase_if(stretches, [](const TaskStretch& one) { return one.phase != "request"; });

    const CallStatistics spans = session.model().probe_statistics(id);
    EXPECT_EQ(stretches.size(), 64u);
    EXPECT_EQ(spans.entries, 64);
    EXPECT_EQ(spans.returns, 64);
    EXPECT_EQ(spans.unwound, 0);
    EXPECT_EQ(spans.stray, 0);
    double longest = 0, slept = 0;
    uint64_t first = UINT64_MAX, last = 0;
    for (const TaskStretch& request : stretches) {
        longest += static_cast<double>(request.end_ns - request.begin_ns);
        first = std::min(first, request.begin_ns);
        last = std::max(last, request.end_ns);
    }
    for (int number = 0; number < 16; number++)
        slept += 4 * 2e6 * (1 + number % 4);
    // One thread works for one at a time; what it slept for a request is that one's.
    EXPECT_LE(spans.sum_ns, longest);
    EXPECT_GE(spans.span.attached, slept);
    EXPECT_LE(spans.span.attached, static_cast<double>(last - first));
    EXPECT_GT(spans.span.parked, spans.span.attached);
    EXPECT_DOUBLE_EQ(spans.span.attached + spans.span.parked, spans.sum_ns);

    // The request of a span is the last that began before it.
    const auto earlier = [](const TaskStretch& one, const TaskStretch& other) {
        return one.begin_ns < other.begin_ns;
    };
    std::ranges::sort(stretches, earlier);
    const Model& model = session.model();
    const SampleStore& samples = model.samples();
    size_t right = 0, none = 0, wrong = 0, outside = 0;
    double right_ns = 0, none_ns = 0;
    for (size_t i = 0; i < samples.size(); i++) {
        const TaskInStack task = task_in(session, samples.stacks()[i]);
        const auto weight = static_cast<double>(samples.weights()[i]);
        // How long a thread waits for a CPU, and where it was then, is the machine's business.
        if (samples.kinds()[i] == SampleKind::runnable)
            continue;
        const CallIndex call = samples.calls()[i];
        if (call == no_call) {
            outside += task.frame.starts_with("[task python_tasks.requests ");
            continue;
        }
        TaskStretch at;
        at.begin_ns = model.calls()[call].start_ns;
        const auto next = std::ranges::upper_bound(stretches, at, earlier);
        ASSERT_NE(next, stretches.begin());
        const bool is_its_own =
            task.frame == std::prev(next)->frame() || task.frame == std::prev(next)->named_frame();
        (task.frame.empty() ? none : is_its_own ? right : wrong)++;
        if (task.frame.empty())
            none_ns += weight;
        else if (is_its_own)
            right_ns += weight;
    }
    fmt::print("{} samples ({:.1f} ms) of the task whose request it is, {} of another, {} ({:.1f} "
               "ms) of none; {} of such tasks in none\n",
               right, right_ns / 1e6, wrong, none, none_ns / 1e6, outside);
    EXPECT_GE(right, 50u);
    EXPECT_EQ(wrong, 0u);
    // A span's thread is at PyIter_Send() before the coroutine's frame is there, and again when it
    // has gone: for the rest of one probe's hit and half of another's, three times in each of 64
    // requests. A whole sleep of a task is one sample, so what is compared is time: a twentieth of
    // what they sleep (320 ms) is 83 us each time, and a pair of hits takes 1 to 20 us, the more
    // where the kernel has to step through the instructions. (By numbers the share would be far
    // larger, and the largest from 3.12 on: there only the loop calls PyIter_Send(); in 3.11
    // `await` does, too, so that many hits are within a task.)
    EXPECT_LE(none_ns * 20, right_ns);
}

// From a task's first step to its last: those in which none runs yet.
TEST_P(PythonTaskSpans, AreSpansFromTheirFirstStepToTheirLast) {
    if (ends_at_a_jump(GetParam()))
        GTEST_SKIP() << "calls of PyIter_Send() end before the task has run";
    Program program(GetParam(), {tasks_program, path_});
    Session session;
    observe(session, program);
    SpanDefinition span;
    span.points = {
        {.role = Role::from,
         .probe = "PyIter_Send",
         .only_if = "task == 0",
         .key = "arg0",
         .keep = true},
        {.role = Role::to,
         .probe = "PyIter_Send",
         .at_return = true,
         .only_if = "task == 0 and ret != 1",
         .key = "arg0"},
        {.role = Role::park,
         .probe = "PyIter_Send",
         .at_return = true,
         .only_if = "task == 0",
         .key = "arg0"},
        {.role = Role::resume, .probe = "PyIter_Send", .only_if = "task == 0", .key = "arg0"}};
    span.text = "from PyIter_Send to PyIter_Send";
    const ProbeId id{100};
    auto added = session.backend().add_probe({id, "task", {}, {}, span});
    if (!added && ends_by_a_jump(added.error()))
        GTEST_SKIP() << added.error().message();
    session.report = must(std::move(added));
    must(session.backend().set_sampling({.rate_hz = 1999, .tasks = true}));
    const auto stretches = run(session, program);

    const CallStatistics spans = session.model().probe_statistics(id);
    EXPECT_GE(spans.entries, 30);
    EXPECT_EQ(spans.returns, spans.entries);
    EXPECT_EQ(spans.stray, 0);
    EXPECT_EQ(spans.unwound, 0);
    EXPECT_DOUBLE_EQ(spans.span.attached + spans.span.parked, spans.sum_ns);
    // Each of those that take parts of the time has one, and so has each span one task.
    const auto task_of = tasks_of_frames(stretches);
    std::map<uint64_t, std::set<uint64_t>> tasks; // by the span's start
    std::map<uint64_t, std::set<uint64_t>> starts;
    const SampleStore& samples = session.model().samples();
    size_t inside = 0, outside = 0;
    for (size_t i = 0; i < samples.size(); i++) {
        const TaskInStack task = task_in(session, samples.stacks()[i]);
        if (!task.frame.starts_with("[task python_tasks.share "))
            continue;
        const CallIndex call = samples.calls()[i];
        (call == no_call ? outside : inside)++;
        if (call == no_call)
            continue;
        const uint64_t start = session.model().calls()[call].start_ns;
        ASSERT_TRUE(task_of.contains(task.frame)) << task.frame;
        tasks[start].insert(task_of.at(task.frame));
        starts[task_of.at(task.frame)].insert(start);
    }
    EXPECT_EQ(outside, 0u);
    EXPECT_GE(inside, 200u);
    EXPECT_EQ(starts.size(), 4u);
    EXPECT_EQ(tasks.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Interpreters, PythonTaskSpans, testing::ValuesIn(pythons()), python_name);

} // namespace
} // namespace auger::test
