// SPDX-License-Identifier: GPL-3.0-or-later
// A Python program, as somebody looks at it who never heard of its interpreter's functions.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

class LivePython : public LiveTest {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!std::filesystem::exists("/usr/bin/python3"))
            GTEST_SKIP() << "python3 is not installed";
    }
};

TEST_F(LivePython, FunctionsAreInFlamesOfNowAndOfRecordings) {
    const std::string recording = folder_.path("python.auger"), told = folder_.path("stretches");
    Program program("/usr/bin/python3",
                    {AUGER_SOURCE_DIR "/tests/programs/python_chains.py", told});
    program.wait_ready();
    std::string flame;
    {
        LiveAuger auger({"-p", std::to_string(program.pid()), "--record", recording});
        auger.run({"time libc:clock_nanosleep", "slow libc:clock_nanosleep > 1ms",
                   "only in libc:clock_nanosleep", "sample wall 997"});
        program.go();
        ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(told + ".done"); }));
        auger.run({"sample off"});
        // Others never sleep there.
        const json only = auger.ask("flame");
        EXPECT_GT(ns_in(only, "sleep"), 0) << only;
        EXPECT_GT(ns_in(only, "threads.<locals>.feed"), 0);
        EXPECT_EQ(ns_in(only, "burn"), 0);
        EXPECT_EQ(ns_in(only, "receive"), 0);
        const auto calls = auger.all("calls libc:clock_nanosleep -n 1000");
        EXPECT_GE(calls.size(), 40u);
        flame = auger.ask("flame --folded")["folded"];
        // Either kind alone, of the same samples.
        const json language = auger.ask("flame --language"), native = auger.ask("flame --native");
        EXPECT_EQ(language["frames"], "language");
        EXPECT_EQ(ns_in(language, "sleep"), ns_in(only, "sleep"));
        EXPECT_EQ(ns_in(native, "sleep"), 0);
        EXPECT_EQ(ns_in(language, "[clock_nanosleep]"), 0);
        EXPECT_GT(ns_in(native, "[clock_nanosleep]"), 0);
        EXPECT_EQ(ns_in(language, "python3"), ns_in(native, "python3"));
        auger.run({"record off"});
    }
    EXPECT_THAT(flame, HasSubstr("Thread._bootstrap;"));
    const Outcome replayed =
        auger({"--batch", "--json", "--replay", recording, "-e", "flame --folded"});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    json again;
    std::istringstream lines(replayed.out);
    for (std::string line; std::getline(lines, line);)
        if (const json answer = json::parse(line); answer.contains("folded"))
            again = answer["folded"];
    EXPECT_EQ(again, flame);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(LivePython, TasksAreToldApart) {
    const std::string recording = folder_.path("tasks.auger"), told = folder_.path("stretches");
    Program program("/usr/bin/python3", {AUGER_SOURCE_DIR "/tests/programs/python_tasks.py", told});
    program.wait_ready();
    std::set<std::string> labels;
    {
        LiveAuger auger({"-p", std::to_string(program.pid()), "--record", recording});
        // Not to be given up where the machine is busy: each step costs two probes.
        auger.run({"overhead off", "slow libc:clock_nanosleep > 1us show task",
                   "span request from libc:sched_get_priority_max key task "
                   "to libc:sched_get_priority_min key task "
                   "resume PyIter_Send key arg0 park PyIter_Send%return key arg0",
                   "sample tasks 997"});
        program.go();
        ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(told + ".done"); }));
        auger.run({"wait until calls request >= 64 for 60s", "sample off"});
        std::set<std::string> truth; // of requests, as stacks have them
        std::ifstream lines(told);
        for (std::string line; std::getline(lines, line);)
            if (const json one = json::parse(line); one["phase"] == "request")
                truth.insert(fmt::format("{:#x}", one["task"].get<uint64_t>()));
        EXPECT_EQ(truth.size(), 16u);
        std::set<std::string> slept;
        for (const json& call : auger.all("calls libc:clock_nanosleep -n 1000")) {
            // Its name may stand behind it.
            const std::string task = call["values"].value("task", "none");
            slept.insert(task.substr(0, task.find(' ')));
        }
        EXPECT_EQ(slept, truth);
        const json hist = auger.ask("hist request");
        EXPECT_EQ(hist["count"], 64u);
        EXPECT_EQ(hist["span"]["stray_ends"], 0u);
        EXPECT_GT(hist["span"]["times"]["parked"], hist["span"]["times"]["served"]);

        const json flame = auger.ask("flame by task");
        EXPECT_EQ(flame["by"], "task");
        labels = labels_of(flame);
        EXPECT_THAT(labels, testing::Contains("{no task}"));
        // By their names, and before these were known by their addresses: on a busy machine that
        // may be all the time (they come in the end: ParkedTasks.HaveNamesInStacks).
        const auto with = [&](std::string_view begin) {
            return std::ranges::count_if(
                labels, [&](const std::string& label) { return label.starts_with(begin); });
        };
        EXPECT_LE(with("python_tasks.share Task-"), 4);
        EXPECT_LE(with("python_tasks.share 0x"), 4);
        EXPECT_GE(with("python_tasks.share "), 4);
        // Of the same samples.
        const json plain = auger.ask("flame"), coroutines = auger.ask("flame by coroutine");
        EXPECT_EQ(samples_of(flame), samples_of(plain));
        EXPECT_EQ(samples_of(coroutines), samples_of(plain));
        EXPECT_EQ(coroutines["by"], "coroutine");
        EXPECT_THAT(labels_of(coroutines), testing::Contains("python_tasks.share"));
        EXPECT_THAT(labels_of(coroutines), testing::Contains("{no task}"));
        auger.run({"record off"});
    }
    const Outcome replayed =
        auger({"--batch", "--json", "--replay", recording, "-e", "flame by task"});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    std::set<std::string> again;
    std::istringstream lines(replayed.out);
    for (std::string line; std::getline(lines, line);)
        if (const json answer = json::parse(line); answer.contains("stacks"))
            again = labels_of(answer);
    EXPECT_EQ(again, labels);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Threads, by what sys._current_frames() says of each in the file that the program has written.
// Returns how many there are.
size_t expect_frames_between_native_ones(const std::string& told,
                                         std::map<uint32_t, json>& threads_seen) {
    std::ifstream lines(told);
    size_t threads = 0;
    for (std::string line; std::getline(lines, line); threads++) {
        const json thread = json::parse(line);
        SCOPED_TRACE(thread["case"]);
        if (!threads_seen.contains(thread["tid"])) {
            ADD_FAILURE() << "it is not there";
            continue;
        }
        const json& call = threads_seen[thread["tid"]];
        json expected = json::array(), seen = json::array();
        std::set<std::string> files;
        for (const json& frame : thread["frames"]) {
            files.insert(frame[1]);
            expected.push_back({frame[0], frame[1].get<std::string>() + ":" + frame[2].dump()});
        }
        // Where they stand in the stack.
        std::map<std::string, size_t> places;
        for (size_t i = 0; i < call["stack"].size(); i++) {
            const json &name = call["stack"][i], &source = call["source"][i];
            const std::string place = source.is_string() ? source : "";
            if (!files.contains(place.substr(0, place.rfind(':'))))
                continue;
            seen.push_back({name, place});
            places.emplace(name, i);
        }
        EXPECT_EQ(seen, expected) << call["stack"];
        EXPECT_LT(places["Thread._bootstrap"] + 1, call["stack"].size()); // called by C code
        EXPECT_GT(places["leaf"], 0u);                                    // and calling it
        if (thread["case"] == "through_sort") {
            EXPECT_EQ(places["key"], places["leaf"] + 1);
            EXPECT_GT(places["through_sort"], places["key"] + 1);
        }
    }
    return threads;
}

class LivePythonWaits : public LivePython {
  protected:
    void SetUp() override {
        LivePython::SetUp();
        if (IsSkipped())
            return;
        told_ = folder_.path("threads");
        program_.emplace(
            "/usr/bin/python3",
            std::vector<std::string>{AUGER_SOURCE_DIR "/tests/programs/python_waits.py", told_});
        program_->wait_ready();
        auger_.emplace(std::vector<std::string>{"-p", std::to_string(program_->pid())});
    }
    // What the command tells of the threads. Tables come when they are made.
    std::map<uint32_t, json> threads_by(const std::string& command) {
        program_->go();
        EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(told_ + ".done"); }));
        std::map<uint32_t, json> threads;
        EXPECT_TRUE(wait_until([&] {
            bool are_whole = true;
            threads.clear();
            for (const json& thread : auger().all(command)) {
                are_whole &= thread["stack"].dump().find("[stack cut") == std::string::npos;
                threads[thread["tid"]] = thread;
            }
            return are_whole;
        }));
        return threads;
    }
    void end() {
        program_->go();
        EXPECT_EQ(program_->wait_exit(), 0);
    }

    LiveAuger& auger() { return *auger_; }

    std::string told_;
    std::optional<Program> program_;
    std::optional<LiveAuger> auger_;
};

TEST_F(LivePythonWaits, OpenCallsHaveFunctionsInTheirStacks) {
    auger().run({"time libc:clock_nanosleep"});
    auto open = threads_by("open libc:clock_nanosleep");
    EXPECT_EQ(expect_frames_between_native_ones(told_, open), 10u);
    end();
}

// Of all threads, without a probe.
TEST_F(LivePythonWaits, StacksOfAllThreadsHaveThem) {
    auto threads = threads_by("stacks");
    EXPECT_EQ(expect_frames_between_native_ones(told_, threads), 10u);
    std::set<uint32_t> seen, there;
    for (const auto& [tid, thread] : threads)
        seen.insert(tid);
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(program_->pid()) + "/task"))
        there.insert(static_cast<uint32_t>(std::stoul(task.path().filename())));
    EXPECT_EQ(seen, there);
    const json& main = threads[static_cast<uint32_t>(program_->pid())];
    EXPECT_EQ(main["stack"].back(), "_start");
    for (const json& thread : auger().all("stacks --language"))
        EXPECT_EQ(thread["stack"].dump().find("_start\""), std::string::npos) << thread;
    end();
}

} // namespace
} // namespace auger::test
