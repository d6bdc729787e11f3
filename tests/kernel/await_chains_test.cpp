// SPDX-License-Identifier: GPL-3.0-or-later
// What `open` says of spans whose keys are tasks of asyncio, held against a program that knows what
// its tasks wait in.
#include "tests/kernel/python_chains.h"
#include "tests/kernel/python_tasks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string awaits_program = AUGER_SOURCE_DIR "/tests/programs/python_awaits.py";
constexpr size_t longest_name = 128;

class PythonAwaits : public PythonTasks {
  protected:
    // The innermost first, as `open` shows it.
    static std::vector<std::string> frames_of(const nlohmann::json& chain, bool has_names) {
        std::vector<std::string> frames;
        for (auto link = chain.rbegin(); link != chain.rend(); ++link) {
            const auto& functions = (*link)["frames"];
            for (auto frame = functions.rbegin(); frame != functions.rend(); ++frame)
                frames.push_back(fmt::format("{}:{}", (*frame)[0].get<std::string>(),
                                             (*frame)[1].get<uint32_t>()));
            std::string task = (*link)["task"].get<std::string>();
            if (task.size() > 2 * longest_name)
                task = task.substr(0, longest_name) + "...";
            if (const auto others = (*link)["others"].get<size_t>())
                task += fmt::format(" and {} more", others);
            frames.push_back(has_names ? task : "");
        }
        return frames;
    }
    std::vector<std::string> frames_of(Session& session, const OpenCall& call, bool has_names) {
        const SymbolTables& symbols = session.model().symbols();
        std::vector<std::string> frames;
        for (const LocationId location : call.stack) {
            const FrameEntry& frame = symbols.found_frames(location).front();
            const std::string name(symbols.name(frame.function));
            if (symbols.module(symbols.location(location).module).kind != ModuleKind::task) {
                frames.push_back(fmt::format("{}:{}", name, frame.line));
                continue;
            }
            // "[task python_awaits.nested Task-2]"
            EXPECT_THAT(name, StartsWith("[task python_awaits."));
            const size_t at = name.find(' ', name.find(' ') + 1) + 1;
            frames.push_back(has_names ? name.substr(at, name.size() - at - 1) : "");
        }
        return frames;
    }
};

TEST_P(PythonAwaits, AreListedByOpen) {
    Program program(GetParam(), {awaits_program, path_});
    Session session;
    observe(session, program);
    SpanDefinition span;
    span.points = {
        {.role = SpanPoint::Role::from, .probe = "libc:sched_get_priority_max", .key = "task"},
        {.role = SpanPoint::Role::to, .probe = "libc:sched_get_priority_min", .key = "task"}};
    span.text = "from libc:sched_get_priority_max to libc:sched_get_priority_min";
    const ProbeId id{100};
    session.report = must(session.backend().add_probe({id, "request", {}, {}, span}));
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path_ + ".done"); }));
    std::map<uint64_t, nlohmann::json> tasks; // by coroutine
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);)
        if (auto told = nlohmann::json::parse(line); told.contains("case"))
            tasks.emplace(told["coroutine"].get<uint64_t>(), std::move(told));
    ASSERT_EQ(tasks.size(), 26u);

    const auto calls = must(session.backend().open_calls(id));
    EXPECT_EQ(calls.size(), tasks.size());
    for (const OpenCall& call : calls) {
        ASSERT_THAT(call.wait, StartsWith("key 0x"));
        const auto told = tasks.find(std::stoull(call.wait.substr(4), nullptr, 16));
        ASSERT_NE(told, tasks.end()) << call.wait;
        const nlohmann::json& task = told->second;
        SCOPED_TRACE(task["case"].get<std::string>());
        const bool has_name = !task["python"].get<bool>();
        EXPECT_EQ(frames_of(session, call, has_name), frames_of(task["chain"], has_name));
        EXPECT_THAT(call.wait, HasSubstr("is suspended"));
        if (task["case"] == "named") {
            EXPECT_THAT(call.wait, HasSubstr(fmt::format(
                                       "; the task {} of python_awaits.span.<locals>.marked_case",
                                       task["task"].get<std::string>())));
        }
    }
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_EQ(session.model().probe_statistics(id).returns, 26);
}

INSTANTIATE_TEST_SUITE_P(Interpreters, PythonAwaits, testing::ValuesIn(pythons()), python_name);

} // namespace
} // namespace auger::test
