// SPDX-License-Identifier: GPL-3.0-or-later
// `open` against a program whose threads get stuck in calls, and which knows in which and since
// when.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/kernel/ways.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <map>
#include <set>

namespace auger::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class OpenCalls : public KernelTest, public testing::WithParamInterface<WayOut> {
  protected:
    void start(WayOut way_out) {
        program_ = std::make_unique<Program>("stuck", std::vector<std::string>{"--wait"});
        program_->wait_ready();
        session_ = std::make_unique<Session>();
        session_->observe(program_->pid());
        must(session_->backend().set_way_out(way_out));
        for (const char* function : {"stuck_receive", "stuck_lock", "stuck_sleep", "nested_outer",
                                     "nested_inner", "recursive", "stuck_spin"})
            probes_[function] = session_->time(function);
    }

    nlohmann::json account() {
        program_->signal(SIGUSR1);
        return program_->account();
    }

    // Until every thread is in all of its calls, and those that wait have gone to sleep.
    void wait_until_stuck() {
        constexpr size_t all = 1 + 1 + 1 + 2 + 5 + 1;
        ASSERT_TRUE(session_->pump_until([&] {
            auto calls = must(session_->backend().open_calls({}));
            size_t waiting = 0;
            for (const OpenCall& call : calls)
                waiting += !call.running;
            return calls.size() == all && waiting == all - 1;
        }));
    }

    std::vector<std::string> names(const OpenCall& call) const {
        std::vector<std::string> names;
        const SymbolTables& symbols = session_->model().symbols();
        for (LocationId location : call.stack) {
            for (const FrameEntry& frame : symbols.frames(location))
                names.emplace_back(symbols.name(frame.function));
        }
        return names;
    }

    std::unique_ptr<Program> program_;
    std::unique_ptr<Session> session_;
    std::map<std::string, ProbeId> probes_;
};

TEST_P(OpenCalls, AreThoseThatTheProgramIsStuckIn) {
    start(GetParam());
    EXPECT_TRUE(must(session_->backend().open_calls({})).empty());
    program_->go();
    wait_until_stuck();
    const nlohmann::json truth = account();
    uint64_t before = session_->backend().now_ns();
    const auto calls = must(session_->backend().open_calls({}));
    uint64_t after = session_->backend().now_ns();
    session_->backend().settle_symbols(std::chrono::seconds(30));

    EXPECT_TRUE(
        std::is_sorted(calls.begin(), calls.end(), [](const OpenCall& left, const OpenCall& right) {
            return left.age_ns > right.age_ns;
        }));
    const std::map<std::string, std::string> waits = {
        {"receives", "recvfrom\\(" + std::to_string(truth["fd"].get<int>()) + "\\) unix.*"},
        {"locks", "futex\\(0x[0-9a-f]+\\)"},
        {"sleeps", "clock_nanosleep"},
        {"nests", "clock_nanosleep"},
        {"recurses", "clock_nanosleep"}};
    size_t expected = 0;
    for (const auto& thread : truth["threads"]) {
        SCOPED_TRACE(thread.dump());
        const std::string name = thread["name"];
        std::vector<OpenCall> found;
        for (const OpenCall& call : calls) {
            if (call.thread.tid == thread["tid"].get<uint32_t>())
                found.push_back(call);
        }
        std::sort(found.begin(), found.end(), [](const OpenCall& left, const OpenCall& right) {
            return left.depth < right.depth;
        });
        ASSERT_EQ(found.size(), thread["calls"].size());
        expected += found.size();
        for (size_t i = 0; i < found.size(); i++) {
            const auto& wanted = thread["calls"][i];
            const OpenCall& call = found[i];
            EXPECT_EQ(call.depth, i);
            EXPECT_EQ(call.probe, probes_.at(wanted["function"]));
            EXPECT_EQ(call.thread.comm, name);
            EXPECT_EQ(call.thread.pid, static_cast<uint32_t>(program_->pid()));
            EXPECT_GE(call.age_ns, before - wanted["inside"].get<uint64_t>());
            EXPECT_LE(call.age_ns, after - wanted["before"].get<uint64_t>());
            EXPECT_EQ(call.running, name == "spins");
        }
        if (name == "spins") {
            EXPECT_TRUE(found[0].stack.empty());
            continue;
        }
        EXPECT_THAT(found[0].wait, MatchesRegex(waits.at(name)));
        // Whole, from the system call through libc, which has no frame pointers, to where the
        // thread began: each open call stands in it, and no other of the program's functions.
        const auto stack = names(found[0]);
        EXPECT_THAT(stack.front(), MatchesRegex("\\[[a-z_]+\\]"));
        std::vector<std::string> timed, wanted;
        for (const std::string& function : stack) {
            if (probes_.contains(function))
                timed.insert(timed.begin(), function);
        }
        for (const auto& call : thread["calls"])
            wanted.push_back(call["function"]);
        EXPECT_EQ(timed, wanted) << testing::PrintToString(stack);
        EXPECT_THAT(stack, Contains("run"));
        EXPECT_THAT(stack, Contains(HasSubstr("start_thread")));
    }
    EXPECT_EQ(calls.size(), expected);

    const auto recursive = must(session_->backend().open_calls(probes_.at("recursive")));
    EXPECT_EQ(recursive.size(), 5u);
    for (const OpenCall& call : recursive)
        EXPECT_EQ(call.probe, probes_.at("recursive"));

    program_->signal(SIGTERM);
    session_->pump_to_end();
    EXPECT_TRUE(must(session_->backend().open_calls({})).empty());
    EXPECT_EQ(program_->wait_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(WaysOut, OpenCalls,
                         testing::Values(WayOut::cheap, WayOut::ret, WayOut::trampoline),
                         way_out_name);

class OpenCallsNow : public OpenCalls {};

// A filter that is put in force later hides what it does not pass; a deleted probe has no calls.
TEST_P(OpenCallsNow, FiltersAndDeletedProbesCount) {
    start(GetParam());
    program_->go();
    wait_until_stuck();
    session_->filter({{}, {}, {"nests"}, {}});
    EXPECT_EQ(must(session_->backend().open_calls({})).size(), 2u);
    session_->filter({{1}, {}, {}, {}});
    EXPECT_TRUE(must(session_->backend().open_calls({})).empty());
    session_->filter({});
    must(session_->backend().remove_probe(probes_.at("recursive")));
    const auto calls = must(session_->backend().open_calls({}));
    EXPECT_EQ(calls.size(), 6u);
    // What is stopped says so.
    program_->signal(SIGSTOP);
    ASSERT_TRUE(session_->pump_until([&] {
        const auto stopped = must(session_->backend().open_calls({}));
        return !stopped.empty() &&
               std::all_of(stopped.begin(), stopped.end(),
                           [](const OpenCall& call) { return call.wait == "stopped"; });
    }));
    program_->signal(SIGCONT);
}

INSTANTIATE_TEST_SUITE_P(WaysOut, OpenCallsNow, testing::Values(WayOut::cheap, WayOut::ret),
                         way_out_name);

// The walk's other ways: frames that are found by rbx, and code without rules. Nothing is
// sampled, so tables are made for this alone.
class OpenCallStacks : public KernelTest {};

TEST_F(OpenCallStacks, GoThroughEveryKindOfFrame) {
    Program program("stuck_frames", {"--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(WayOut::ret));
    session.time("stuck_below");
    program.go();
    std::vector<OpenCall> calls;
    ASSERT_TRUE(session.pump_until([&] {
        calls = must(session.backend().open_calls({}));
        return calls.size() == 3 && std::ranges::none_of(calls, &OpenCall::running);
    }));
    session.backend().settle_symbols(std::chrono::seconds(30));
    std::set<std::string> seen;
    for (const OpenCall& call : calls) {
        seen.insert(call.thread.comm);
        std::vector<std::string> stack;
        for (LocationId location : call.stack) {
            for (const FrameEntry& frame : session.model().symbols().frames(location))
                stack.emplace_back(session.model().symbols().name(frame.function));
        }
        SCOPED_TRACE(call.thread.comm + ": " + testing::PrintToString(stack));
        ASSERT_FALSE(stack.empty());
        EXPECT_EQ(stack.front(), "[clock_nanosleep]");
        EXPECT_THAT(stack, Contains("stuck_below"));
        EXPECT_EQ(std::ranges::count(stack, "call_by_rbx"), call.thread.comm == "by_rbx");
        if (call.thread.comm == "loses_frame") {
            EXPECT_EQ(stack.back(), "[stack cut: no call frame information]");
            continue;
        }
        EXPECT_THAT(stack, Contains("run"));
        EXPECT_THAT(stack.back(), Not(HasSubstr("stack cut")));
    }
    EXPECT_EQ(seen, (std::set<std::string>{"by_rbx", "generated", "loses_frame"}));
    program.signal(SIGTERM);
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
