// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks of CPython's event loops, held against a program that knows which one runs. Debian's Python
// always; others: AUGER_PYTHONS=/path/to/python3.12:/path/to/python3.13.
#include "bpf/unwind_table.h"
#include "loader/kernel/live_names.h"
#include "tests/kernel/program.h"
#include "tests/kernel/python_chains.h"
#include "tests/support/temporary_folder.h"
#include "views/model/fold.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace auger::test {
namespace {

using std::chrono::seconds;
using Role = SpanPoint::Role;

const std::string tasks_source = AUGER_SOURCE_DIR "/tests/programs/python_tasks.py";

// In which a thread ran one task, or none (0).
struct TaskStretch {
    std::string phase;
    uint32_t pid = 0, tid = 0;
    uint64_t begin_ns = 0, end_ns = 0, cpu_ns = 0;
    uint64_t task = 0;
    std::string name;

    // As stacks have it.
    std::string frame() const { return task ? fmt::format("[task {} {:#x}]", name, task) : ""; }
};

std::vector<TaskStretch> read_task_stretches(const std::string& path) {
    std::vector<TaskStretch> stretches;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto told = nlohmann::json::parse(line);
        stretches.push_back({told["phase"], told["pid"], told["tid"], told["begin"], told["end"],
                             told["cpu"], told["task"], told["name"]});
    }
    return stretches;
}

struct TaskInStack {
    std::string frame;   // empty: none
    std::string further; // the next function of Python's inwards from it
    size_t count = 0;
};

TaskInStack task_in(Session& session, StackId stack) {
    const SymbolTables& symbols = session.model().symbols();
    TaskInStack found;
    std::string last;
    for (const LocationId location : symbols.stack(stack)) {
        const auto kind = symbols.module(symbols.location(location).module).kind;
        const std::string name(symbols.name(symbols.found_frames(location).back().function));
        if (kind == ModuleKind::task) {
            found = {name, last, found.count + 1};
        } else if (kind == ModuleKind::python) {
            last = name;
        }
    }
    return found;
}

class PythonTasks : public KernelTest, public testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(GetParam()))
            GTEST_SKIP() << GetParam() << " is not installed";
    }
    // Runs the program to its end, and reads what it says.
    std::vector<TaskStretch> run(Session& session, Program& program) {
        program.go();
        EXPECT_TRUE(session.pump_until([&] { return std::filesystem::exists(path_ + ".done"); }));
        must(session.backend().set_sampling({}));
        program.go();
        session.pump_to_end();
        EXPECT_EQ(program.wait_exit(), 0);
        session.backend().settle_symbols(seconds(60));
        return read_task_stretches(path_);
    }
    // PyIter_Send() resumes a task, and returns when that waits; from 3.14 on it ends by a jump.
    static bool returns_to_the_loop() {
        return GetParam().find("3.14") == std::string::npos &&
               GetParam().find("3.15") == std::string::npos;
    }
    // Until a table is there stacks are cut, and nobody knows of a CPython.
    static void await_tables(Session& session) {
        ASSERT_TRUE(
            session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    }

    TemporaryFolder folder_;
    const std::string path_ = folder_.path("tasks");
};

TEST_P(PythonTasks, AreThoseThatRun) {
    Program program(GetParam(), {tasks_source, path_});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    must(session.backend().set_sampling({.rate_hz = 999, .wall = true, .tasks = true}));
    const auto stretches = run(session, program);

    std::map<std::string, PhaseCounts> phases;
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
            if (task.frame == stretch.frame()) {
                counts.equal++;
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
}

TEST_P(PythonTasks, HaveTheSharesOfTheirCpuTime) {
    Program program(GetParam(), {tasks_source, path_});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    must(session.backend().set_sampling({.rate_hz = 1999, .tasks = true}));
    const auto stretches = run(session, program);

    std::map<std::string, double> cpu_ns, samples; // by label
    double cpu_of_all = 0, samples_of_all = 0;
    for (const TaskStretch& stretch : stretches) {
        if (!stretch.phase.starts_with("share"))
            continue;
        cpu_ns[fmt::format("share {:#x} in {}", stretch.task, stretch.pid)] +=
            static_cast<double>(stretch.cpu_ns);
        cpu_of_all += static_cast<double>(stretch.cpu_ns);
    }
    ASSERT_EQ(cpu_ns.size(), 4u);
    const FlameTree tree = fold(session.model(), {}, {}, GroupBy::task);
    for (uint32_t i = 0; i < tree.nodes.size(); i++) {
        const std::string label(node_name(session.model(), tree, tree.nodes[i]));
        if (tree.nodes[i].depth != 1 || !cpu_ns.contains(label))
            continue;
        samples[label] = tree.total(i).samples;
        samples_of_all += tree.total(i).samples;
    }
    EXPECT_GE(samples_of_all, 200);
    for (const auto& [label, ns] : cpu_ns) {
        const double share = ns / cpu_of_all, seen = samples[label] / samples_of_all;
        fmt::print("{}: {:.1f} % of the time, {:.1f} % of {} samples\n", label, 100 * share,
                   100 * seen, samples_of_all);
        // Five standard deviations; what the tasks do beside is less than a hundredth.
        EXPECT_NEAR(seen, share, 5 * std::sqrt(share * (1 - share) / samples_of_all) + 0.01)
            << label;
    }
}

// Where nobody asks, stacks are what they were.
TEST_P(PythonTasks, AreInNoStackUnlessAskedFor) {
    Program program(GetParam(), {tasks_source, path_});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    session.sample(999);
    run(session, program);
    EXPECT_GE(session.log.samples.size(), 500u);
    for (const SampleEvent& sample : session.log.samples)
        EXPECT_EQ(task_in(session, sample.stack).count, 0u);
}

// In each request of a task it sleeps once without letting others run.
TEST_P(PythonTasks, AreValuesOfCalls) {
    Program program(GetParam(), {tasks_source, path_});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    CallConditions in_tasks, show_tasks;
    show_tasks.show = {"task"};
    const ProbeId sleeps =
        session.time("libc:clock_nanosleep", {Threshold::Kind::fixed, 1, 0}, show_tasks);
    in_tasks.only_if = "task != 0";
    const ProbeId begins = session.time("libc:sched_get_priority_max", {}, in_tasks);
    const auto stretches = run(session, program);

    std::map<std::string, size_t> truth, seen; // calls by task
    size_t requests = 0;
    for (const TaskStretch& stretch : stretches)
        if (stretch.phase == "request") {
            truth[fmt::format("{:#x}", stretch.task)]++;
            requests++;
        }
    for (const StreamLog::SlowCall& call : session.log.slow_calls)
        seen[session.log.value(call, "task")]++;
    EXPECT_EQ(truth.size(), 16u);
    EXPECT_EQ(seen, truth);
    EXPECT_EQ(session.calls(sleeps).returns, requests);
    EXPECT_EQ(session.calls(begins).returns, requests);
    EXPECT_EQ(session.calls(begins).filtered, 0u);
}

// Sixteen tasks in turn on one thread, each in a request.
TEST_P(PythonTasks, AreKeysOfSpans) {
    if (!returns_to_the_loop())
        GTEST_SKIP() << "PyIter_Send() does not return there";
    Program program(GetParam(), {tasks_source, path_});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    SpanDefinition span;
    span.points = {{.role = Role::from, .probe = "libc:sched_get_priority_max", .key = "task"},
                   {.role = Role::to, .probe = "libc:sched_get_priority_min", .key = "task"},
                   {.role = Role::park, .probe = "PyIter_Send", .at_return = true, .key = "arg0"},
                   {.role = Role::resume, .probe = "PyIter_Send", .key = "arg0"}};
    span.text = "from libc:sched_get_priority_max to libc:sched_get_priority_min";
    const ProbeId id{100};
    session.report = must(session.backend().add_probe({id, "request", {}, {}, span}));
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
        slept += 4 * 500e3 * (1 + number % 4);
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
    for (size_t i = 0; i < samples.size(); i++) {
        const TaskInStack task = task_in(session, samples.stacks()[i]);
        const CallIndex call = samples.calls()[i];
        if (call == no_call) {
            outside += task.frame.starts_with("[task requests ");
            continue;
        }
        TaskStretch at;
        at.begin_ns = model.calls()[call].start_ns;
        const auto next = std::ranges::upper_bound(stretches, at, earlier);
        ASSERT_NE(next, stretches.begin());
        if (task.frame.empty())
            none++;
        else
            (task.frame == std::prev(next)->frame() ? right : wrong)++;
    }
    fmt::print("{} samples of the task whose request it is, {} of another, {} of none; {} of such "
               "tasks in none\n",
               right, wrong, none, outside);
    EXPECT_GE(right, 50u);
    EXPECT_EQ(wrong, 0u);
    EXPECT_LE(none * 100,
              right * 5); // where the loop is about to resume one, or has just been back
}

// From a task's first step to its last: those in which none runs yet.
TEST_P(PythonTasks, AreSpansFromTheirFirstStepToTheirLast) {
    if (!returns_to_the_loop())
        GTEST_SKIP() << "PyIter_Send() does not return there";
    Program program(GetParam(), {tasks_source, path_});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
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
    session.report = must(session.backend().add_probe({id, "task", {}, {}, span}));
    must(session.backend().set_sampling({.rate_hz = 1999, .tasks = true}));
    const auto stretches = run(session, program);

    const CallStatistics spans = session.model().probe_statistics(id);
    EXPECT_GE(spans.entries, 30);
    EXPECT_EQ(spans.returns, spans.entries);
    EXPECT_EQ(spans.stray, 0);
    EXPECT_EQ(spans.unwound, 0);
    EXPECT_DOUBLE_EQ(spans.span.attached + spans.span.parked, spans.sum_ns);
    // Each of those that take parts of the time has one, and so has each span one task.
    std::map<uint64_t, std::set<std::string>> tasks; // by the span's start
    std::map<std::string, std::set<uint64_t>> starts;
    const SampleStore& samples = session.model().samples();
    size_t inside = 0, outside = 0;
    for (size_t i = 0; i < samples.size(); i++) {
        const TaskInStack task = task_in(session, samples.stacks()[i]);
        if (!task.frame.starts_with("[task share "))
            continue;
        const CallIndex call = samples.calls()[i];
        (call == no_call ? outside : inside)++;
        if (call == no_call)
            continue;
        const uint64_t start = session.model().calls()[call].start_ns;
        tasks[start].insert(task.frame);
        starts[task.frame].insert(start);
    }
    EXPECT_EQ(outside, 0u);
    EXPECT_GE(inside, 200u);
    EXPECT_EQ(starts.size(), 4u);
    EXPECT_EQ(tasks.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Interpreters, PythonTasks, testing::ValuesIn(pythons()),
                         [](const auto& info) {
                             std::string name = info.param.substr(info.param.rfind('/') + 1);
                             for (char& letter : name)
                                 letter = std::isalnum(letter) ? letter : '_';
                             return name;
                         });

// The words of a stack, of a function of 3.11 in our own memory.
class TaskNames : public KernelTest {
  protected:
    struct alignas(16) Object {
        char bytes[256] = {};
        void put(uint32_t offset, uint64_t word) {
            std::memcpy(bytes + offset, &word, sizeof word);
        }
        uint64_t address() const { return reinterpret_cast<uint64_t>(bytes); }
    };
    void SetUp() override {
        KernelTest::SetUp();
        const auto layout = python_layout(0x030b07f0, {});
        ASSERT_TRUE(layout.ok());
        text_.put(layout->objects.text_length, 6);
        text_.put(layout->objects.text_state, 1u << 2 | 1u << 5 | 1u << 6);
        std::strcpy(text_.bytes + layout->objects.text_ascii, "handle");
        lines_.put(layout->objects.bytes_length, 0);
        code_.put(layout->frames.code_line, 7);
        code_.put(layout->frames.code_file, text_.address());
        code_.put(layout->frames.code_name, text_.address());
        code_.put(layout->frames.code_lines, lines_.address());
        names_.python().set_layout(getpid(), 0, std::make_shared<const PythonLayout>(*layout));
    }
    // Of the stack in which this task runs, what its frames are called, leaf first.
    std::vector<std::string> stack_with(uint64_t task, uint32_t cookie) {
        const std::vector<uint64_t> words = {
            WIRE_FRAME_PYTHON | code_.address(),
            uint64_t{cookie},
            WIRE_FRAME_PYTHON | code_.address(),
            uint64_t{WIRE_PYTHON_TASK_FUNCTION} << 32 | cookie,
            WIRE_FRAME_PYTHON | task,
            uint64_t{WIRE_PYTHON_TASK_ADDRESS} << 32,
        };
        std::vector<std::string> frames;
        const StackId stack = names_.stack(getpid(), 1, {}, words);
        for (const LocationId location : model_.symbols().stack(stack))
            frames.emplace_back(
                model_.symbols().name(model_.symbols().frames(location).front().function));
        return frames;
    }
    uint32_t cookie() const { return wire_python_cookie(7, text_.address(), text_.address()); }

    Object text_, lines_, code_;
    Model model_;
    LiveNames names_{model_};
};

TEST_F(TaskNames, AreOfTheFunctionAndTheAddress) {
    EXPECT_THAT(stack_with(0x7f0010, cookie()),
                testing::ElementsAre("handle", "[task handle 0x7f0010]"));
    EXPECT_THAT(stack_with(0x7f0020, cookie()),
                testing::ElementsAre("handle", "[task handle 0x7f0020]"));
    // Another function is there by now.
    EXPECT_THAT(stack_with(0x7f0010, cookie() + 1),
                testing::ElementsAre("[python: gone before its name was read]", "[task 0x7f0010]"));
}

TEST_F(TaskNames, AreBounded) {
    for (uint64_t i = 1; i <= 10'000; i++)
        EXPECT_EQ(stack_with(i * 16, cookie()).back(), fmt::format("[task handle {:#x}]", i * 16));
    EXPECT_EQ(stack_with(10'001 * 16, cookie()).back(), "[task one of many others]");
    EXPECT_EQ(stack_with(10'002 * 16, cookie()).back(), "[task one of many others]");
    EXPECT_EQ(stack_with(16, cookie()).back(), "[task handle 0x10]");
}

} // namespace
} // namespace auger::test
