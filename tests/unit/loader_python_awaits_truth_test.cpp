// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks of a real CPython, and what they wait in, read from outside, and what Python itself says of
// them. Of another one: AUGER_PYTHON=/path/to/python3.14 unit_loader
// --gtest_filter='PythonAwaitsTruth.*'.
#include "loader/runtimes/python/await_chain.h"
#include "loader/runtimes/python/code_reader.h"
#include "loader/runtimes/python/line_table.h"
#include "loader/runtimes/python/waiting_tasks.h"
#include "tests/unit/python_process.h"

#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace auger {
namespace {

using nlohmann::json;

// Of a task in a chain.
struct TrueLink {
    std::string task;
    size_t others = 0;
    std::vector<std::pair<std::string, uint32_t>> frames; // function and line, the outermost first

    friend bool operator==(const TrueLink&, const TrueLink&) = default;
    friend void PrintTo(const TrueLink& link, std::ostream* out) {
        *out << link.task << " and " << link.others << " others:";
        for (const auto& [function, line] : link.frames)
            *out << ' ' << function << ':' << line;
    }
};

struct TrueTask {
    std::string name;
    uint64_t coroutine = 0, object = 0;
    bool of_python = false; // asyncio's other class, whose tasks are not found
    std::vector<TrueLink> chain;
};

std::string shown(const std::string& name) {
    constexpr size_t limit = TaskReader::name_limit;
    return name.size() > 2 * limit ? name.substr(0, limit) + "..." : name;
}

class PythonAwaitsTruth : public test::PythonProcess {
  protected:
    void SetUp() override {
        start("tests/programs/python_awaits.py",
              [this](const std::string& line) { return understand(line); });
        if (!runtime_)
            return;
        if (!layout_.awaits.known)
            GTEST_SKIP() << "tasks of this version are not known";
        ASSERT_TRUE(layout_.awaits.has_asyncio() || asyncio_);
        source_ = {layout_,
                   layout_.awaits.has_asyncio() ? layout_.awaits.asyncio : asyncio_->offsets,
                   runtime_};
    }

    bool understand(const std::string& line) {
        if (!line.starts_with('{'))
            return line == "ready\n";
        const json told = json::parse(line);
        if (told.contains("main")) {
            main_ = told["main"];
            main_name_ = told["main_task"];
            return false;
        }
        TrueTask task{shown(told["task"]), told["coroutine"], told["object"], told["python"], {}};
        for (const json& link : told["chain"]) {
            TrueLink one{task.of_python ? "" : shown(link["task"]), link["others"], {}};
            for (const json& frame : link["frames"])
                one.frames.emplace_back(frame[0].get<std::string>(), frame[1].get<uint32_t>());
            task.chain.push_back(std::move(one));
        }
        tasks_.emplace(told["case"], std::move(task));
        return false;
    }

    std::pair<std::string, uint32_t> function_at(const AwaitFrame& frame) const {
        const auto answer =
            read_python_code(reader(), layout_, frame.code, static_cast<uint32_t>(frame.second));
        const auto* const code = std::get_if<PythonCode>(&answer);
        if (!code)
            return {"(unreadable)", 0};
        return {code->function, python_line(code->form, code->lines, code->first_line,
                                            static_cast<uint32_t>(frame.second >> 32))};
    }
    std::vector<TrueLink> seen(const AwaitChain& chain) const {
        std::vector<TrueLink> links;
        for (const AwaitChain::Link& link : chain.tasks) {
            TrueLink one{link.task.name, link.others, {}};
            for (const AwaitFrame& frame : link.frames)
                one.frames.push_back(function_at(frame));
            links.push_back(std::move(one));
        }
        return links;
    }
    std::variant<AwaitChain, FunctionProblem> chain_of(uint64_t coroutine) {
        return read_await_chain(reader(), source_, coroutine, known_);
    }
    std::variant<PythonTask, FunctionProblem> task_of(uint64_t coroutine) {
        return find_task(reader(), source_, coroutine, known_);
    }

    TaskSource source_;
    std::map<std::string, TrueTask> tasks_; // by case
    uint64_t main_ = 0;
    std::string main_name_;
    AsyncioObjects known_;
};

TEST_F(PythonAwaitsTruth, WhatTasksWaitIn) {
    EXPECT_EQ(tasks_.size(), 26u);
    for (const auto& [name, task] : tasks_) {
        SCOPED_TRACE(name);
        const auto chain = chain_of(task.coroutine);
        ASSERT_TRUE(std::holds_alternative<AwaitChain>(chain));
        EXPECT_EQ(seen(std::get<AwaitChain>(chain)), task.chain);
        EXPECT_EQ(std::get<AwaitChain>(chain).end, CoroutineWalk::End::future);
    }
}

TEST_F(PythonAwaitsTruth, WhatTasksAreCalled) {
    ASSERT_FALSE(tasks_.empty());
    for (const auto& [name, task] : tasks_) {
        SCOPED_TRACE(name);
        const auto found = task_of(task.coroutine);
        if (task.of_python) {
            EXPECT_EQ(std::get<FunctionProblem>(found), FunctionProblem::gone);
            continue;
        }
        // The program has asked for all names.
        const PythonTask truth{task.object, task.coroutine, task.name, 0};
        ASSERT_TRUE(std::holds_alternative<PythonTask>(found));
        EXPECT_EQ(std::get<PythonTask>(found).name, task.name);
        EXPECT_EQ(std::get<PythonTask>(found), truth);
        const auto again = read_task(reader(), source_, task.object);
        ASSERT_TRUE(std::holds_alternative<PythonTask>(again));
        EXPECT_EQ(std::get<PythonTask>(again), truth);
    }
}

// Whatever they wait in, and in any order.
TEST_F(PythonAwaitsTruth, WhichTasksWait) {
    const auto always = [] { return true; };
    std::vector<uint64_t> told;
    const auto on_waiting = [&](uint64_t coroutine) { told.push_back(coroutine); };
    const auto found = read_waiting_tasks(reader(), source_, {1, always, on_waiting}, known_);
    ASSERT_TRUE(std::holds_alternative<WaitingTasks>(found));
    const auto& all = std::get<WaitingTasks>(found);
    EXPECT_EQ(all.looked_at, all.tasks);
    std::map<uint64_t, std::vector<TrueLink>> chains;
    ASSERT_EQ(told.size(), all.waiting.size());
    for (size_t i = 0; i < told.size(); i++) {
        const auto& [chain, time_ns] = all.waiting[i];
        EXPECT_EQ(told[i], chain.tasks.front().task.coroutine);
        EXPECT_FALSE(chain.is_ready);
        EXPECT_TRUE(chains.emplace(chain.tasks.front().task.coroutine, seen(chain)).second);
    }
    for (const auto& [name, task] : tasks_) {
        SCOPED_TRACE(name);
        if (!task.of_python) {
            EXPECT_EQ(chains[task.coroutine], task.chain);
        }
    }
    EXPECT_FALSE(chains.contains(main_)); // it runs

    const auto once = [] { return false; };
    std::set<uint64_t> firsts;
    for (uint64_t random = 1; random <= 1000; random++) {
        const auto one = read_waiting_tasks(reader(), source_, {random, once, {}}, known_);
        ASSERT_TRUE(std::holds_alternative<WaitingTasks>(one));
        EXPECT_EQ(std::get<WaitingTasks>(one).tasks, all.tasks);
        EXPECT_EQ(std::get<WaitingTasks>(one).looked_at, 1u);
        for (const auto& [chain, time_ns] : std::get<WaitingTasks>(one).waiting)
            firsts.insert(chain.tasks.front().task.coroutine);
    }
    // Of some thirty, of which 1,000 throws leave one out once in 10^13 times (30 e^(-1000/30)).
    EXPECT_EQ(firsts.size(), chains.size());
}

// It waits for its input in a system call, so its task is the running one.
TEST_F(PythonAwaitsTruth, WhichTaskRuns) {
    for (size_t i = 0; i < 2; i++) { // at first it looks for those that run
        const auto found = task_of(main_);
        ASSERT_TRUE(std::holds_alternative<PythonTask>(found));
        EXPECT_EQ(std::get<PythonTask>(found).name, main_name_);
        EXPECT_EQ(std::get<PythonTask>(found).coroutine, main_);
        EXPECT_EQ(known_.current_tasks == 0, source_.asyncio.thread_running != 0);
    }
    const auto chain = chain_of(main_);
    ASSERT_TRUE(std::holds_alternative<AwaitChain>(chain));
    EXPECT_EQ(std::get<AwaitChain>(chain).end, CoroutineWalk::End::runs);
    ASSERT_EQ(std::get<AwaitChain>(chain).tasks.size(), 1u);
    EXPECT_EQ(std::get<AwaitChain>(chain).tasks[0].task.name, main_name_);
    EXPECT_EQ(function_at(std::get<AwaitChain>(chain).tasks[0].frames.at(0)).first, "main");
}

TEST_F(PythonAwaitsTruth, OtherAddressesAreOfNoTask) {
    const TrueTask& task = tasks_.at("simple");
    for (const uint64_t address : {task.object, task.coroutine + 8, runtime_, uint64_t{0},
                                   uint64_t{1}, UINT64_MAX, UINT64_MAX - 7, uint64_t{1} << 47}) {
        EXPECT_EQ(std::get<FunctionProblem>(chain_of(address)), FunctionProblem::unreadable)
            << address;
        EXPECT_TRUE(std::holds_alternative<FunctionProblem>(task_of(address))) << address;
    }
    EXPECT_TRUE(
        std::holds_alternative<FunctionProblem>(read_task(reader(), source_, task.coroutine)));
}

} // namespace
} // namespace auger
