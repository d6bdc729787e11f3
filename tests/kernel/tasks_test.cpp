// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks of CPython's event loops, held against a program that knows which one runs. Debian's Python
// always; others: AUGER_PYTHONS=/path/to/python3.12:/path/to/python3.13.
#include "tests/kernel/python_chains.h"
#include "tests/kernel/python_tasks.h"
#include "views/model/fold.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

namespace auger::test {
namespace {

TEST_P(PythonTasks, AreThoseThatRun) {
    Program program(GetParam(), {tasks_program, path_});
    Session session;
    observe(session, program);
    must(session.backend().set_sampling({.rate_hz = 999, .wall = true, .tasks = true}));
    const auto stretches = run(session, program);

    std::map<std::string, PhaseCounts> phases;
    std::map<std::string, size_t> named; // samples by phase
    size_t all_named = 0, all_unnamed = 0;
    std::multimap<uint32_t, const TaskStretch*> by_thread;
    for (const TaskStretch& stretch : stretches) {
        if (stretch.phase == "request")
            continue; // others run meanwhile
        phases[stretch.phase];
        by_thread.emplace(stretch.tid, &stretch);
    }
    EXPECT_GE(phases.size(), 28u);
    for (const SampleEvent& sample : session.log.samples) {
        const ThreadInfo& thread = session.model().symbols().thread(sample.thread);
        const auto [first, last] = by_thread.equal_range(thread.tid);
        for (auto one = first; one != last; ++one) {
            const TaskStretch& stretch = *one->second;
            if (sample.time_ns < stretch.begin_ns || sample.time_ns > stretch.end_ns)
                continue;
            PhaseCounts& counts = phases[stretch.phase];
            const TaskInStack task = task_in(session, sample.stack);
            const PythonStack seen = look_at_python(session, sample.stack);
            EXPECT_LE(task.count, 1u) << seen.text;
            // Another task's name never.
            if (task.frame == stretch.frame() || task.frame == stretch.named_frame()) {
                counts.equal++;
                const bool has_name = task.frame != stretch.frame();
                named[stretch.phase] += has_name;
                all_named += has_name;
                all_unnamed += !has_name && !stretch.task_name.empty();
                // It stands around its outermost coroutine; a generator that is a loop lies
                // between.
                if (stretch.task && stretch.phase != "loop of a generator") {
                    EXPECT_EQ(task.further, stretch.name) << seen.text;
                }
            } else if (seen.cut) {
                counts.lacking++;
            } else {
                counts.wrong++;
                EXPECT_EQ(task.frame, stretch.frame()) << stretch.phase << "\n" << seen.text;
            }
        }
    }
    PhaseCounts total;
    for (const auto& [phase, counts] : phases) {
        fmt::print("{}: {} equal, {} lacking, {} wrong\n", phase, counts.equal, counts.lacking,
                   counts.wrong);
        EXPECT_GE(counts.equal, 20u) << phase;
        EXPECT_EQ(counts.wrong, 0u) << phase;
        total.equal += counts.equal;
        total.lacking += counts.lacking;
    }
    EXPECT_GE(total.equal * 100, total.all() * 99) << total.lacking << " lack frames";
    // All but those before the second look at a task, whenever that is; most are of few tasks.
    fmt::print("{} with names, {} without\n", all_named, all_unnamed);
    EXPECT_GT(all_named, 0u); // how many, depends on how often there is a CPU to look
    // asyncio's other class, and loops that have no names.
    for (const char* const phase : {"task of Python", "loop of a function", "by hand"})
        EXPECT_EQ(named[phase], 0u) << phase;
}

TEST_P(PythonTasks, HaveTheSharesOfTheirCpuTime) {
    Program program(GetParam(), {tasks_program, path_});
    Session session;
    observe(session, program);
    must(session.backend().set_sampling({.rate_hz = 1999, .tasks = true}));
    const auto stretches = run(session, program);

    std::map<uint64_t, double> cpu_ns, samples; // by task
    std::map<std::string, uint64_t> tasks;      // by label
    double cpu_of_all = 0, samples_of_all = 0;
    for (const TaskStretch& stretch : stretches) {
        if (!stretch.phase.starts_with("share"))
            continue;
        cpu_ns[stretch.task] += static_cast<double>(stretch.cpu_ns);
        for (const std::string& frame : {stretch.frame(), stretch.named_frame()})
            tasks.emplace(fmt::format("{} in {}", frame.substr(6, frame.size() - 7), stretch.pid),
                          stretch.task);
        cpu_of_all += static_cast<double>(stretch.cpu_ns);
    }
    ASSERT_EQ(cpu_ns.size(), 4u);
    const FlameTree tree = fold(session.model(), {}, {}, GroupBy::task);
    for (uint32_t i = 0; i < tree.nodes.size(); i++) {
        const std::string label(node_name(session.model(), tree, tree.nodes[i]));
        if (tree.nodes[i].depth != 1 || !tasks.contains(label))
            continue;
        samples[tasks.at(label)] += tree.total(i).samples;
        samples_of_all += tree.total(i).samples;
    }
    EXPECT_GE(samples_of_all, 200);
    for (const auto& [task, ns] : cpu_ns) {
        const double share = ns / cpu_of_all, seen = samples[task] / samples_of_all;
        fmt::print("{:#x}: {:.1f} % of the time, {:.1f} % of {} samples\n", task, 100 * share,
                   100 * seen, samples_of_all);
        // Five standard deviations; what the tasks do beside is less than a hundredth.
        EXPECT_NEAR(seen, share, 5 * std::sqrt(share * (1 - share) / samples_of_all) + 0.01)
            << task;
    }
    // All four are of one coroutine's function.
    const FlameTree by_coroutine = fold(session.model(), {}, {}, GroupBy::coroutine);
    double of_coroutine = 0;
    for (uint32_t i = 0; i < by_coroutine.nodes.size(); i++)
        if (by_coroutine.nodes[i].depth == 1 &&
            node_name(session.model(), by_coroutine, by_coroutine.nodes[i]) == "python_tasks.share")
            of_coroutine += by_coroutine.total(i).samples;
    EXPECT_EQ(of_coroutine, samples_of_all);
}

// Where nobody asks, stacks are what they were.
TEST_P(PythonTasks, AreInNoStackUnlessAskedFor) {
    Program program(GetParam(), {tasks_program, path_});
    Session session;
    observe(session, program);
    session.sample(999);
    run(session, program);
    EXPECT_GE(session.log.samples.size(), 500u);
    for (const SampleEvent& sample : session.log.samples)
        EXPECT_EQ(task_in(session, sample.stack).count, 0u);
}

// In each request of a task it sleeps once without letting others run.
TEST_P(PythonTasks, AreValuesOfCalls) {
    Program program(GetParam(), {tasks_program, path_});
    Session session;
    observe(session, program);
    CallConditions in_tasks, show_tasks;
    show_tasks.show = {"task"};
    const ProbeId sleeps =
        session.time("libc:clock_nanosleep", {Threshold::Kind::fixed, 1, 0}, show_tasks);
    in_tasks.only_if = "task != 0";
    const ProbeId begins = session.time("libc:sched_get_priority_max", {}, in_tasks);
    const auto stretches = run(session, program);

    std::map<std::string, size_t> truth, seen; // calls by task
    std::set<std::string> names;               // of tasks, behind their addresses
    size_t requests = 0;
    for (const TaskStretch& stretch : stretches)
        if (stretch.phase == "request") {
            truth[fmt::format("{:#x}", stretch.task)]++;
            names.insert(fmt::format("{:#x} ({})", stretch.task, stretch.task_name));
            requests++;
        }
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        // Its name may stand behind it.
        const std::string text = session.log.value(call, "task");
        seen[text.substr(0, text.find(' '))]++;
        if (text.find(" (") != text.npos) {
            EXPECT_TRUE(names.contains(text)) << text;
        }
    }
    EXPECT_EQ(truth.size(), 16u);
    EXPECT_EQ(seen, truth);
    EXPECT_EQ(session.calls(sleeps).returns, requests);
    EXPECT_EQ(session.calls(begins).returns, requests);
    EXPECT_EQ(session.calls(begins).filtered, 1u); // that of no task
}

INSTANTIATE_TEST_SUITE_P(Interpreters, PythonTasks, testing::ValuesIn(pythons()), python_name);

} // namespace
} // namespace auger::test
