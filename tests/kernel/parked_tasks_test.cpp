// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks of asyncio that wait: how much of a span's time is theirs, in the classes of their spans,
// as a program says whose tasks do nothing else.
#include "tests/kernel/python_chains.h"
#include "tests/kernel/python_tasks.h"
#include "views/model/account.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace auger::test {
namespace {

const std::string parked_program = AUGER_SOURCE_DIR "/tests/programs/python_parked.py";

class ParkedTasks : public PythonTasks {};

// None of these spans has a sample of a thread but by chance, so their ends are told for the waits'
// sake; else fast ones would be taken for open, and then for slow.
TEST_P(ParkedTasks, AreInTheirSpans) {
    if (ends_at_a_jump(GetParam()))
        GTEST_SKIP() << "calls of PyIter_Send() end before the task has run";
    Program program(GetParam(), {parked_program});
    Session session;
    observe(session, program);
    const ProbeId id{100};
    auto added = session.backend().add_probe({id, "wait", {}, {}, request_of_task()});
    if (!added && ends_by_a_jump(added.error()))
        GTEST_SKIP() << added.error().message();
    session.report = must(std::move(added));
    must(
        session.backend().set_split({true, id, {Threshold::Kind::fixed, 1'000'000'000, 0}, false}));
    must(session.backend().set_sampling({.rate_hz = 499, .wall = true}));
    program.go();
    // Samples of one look stand for the same time, to the nanosecond.
    struct Looks {
        std::set<uint64_t> weights;
        double sum_ns = 0;
    };
    const auto looks_at = [&] {
        Looks looks;
        const SampleStore& samples = session.model().samples();
        for (size_t i = 0; i < samples.size(); i++) {
            const std::vector<std::string> names = session.stack_names(samples.stacks()[i]);
            if (names.empty() || (names[0] != "[parked]" && names[0] != "[queued]"))
                continue;
            looks.weights.insert(samples.weights()[i]);
            looks.sum_ns += static_cast<double>(samples.weights()[i]);
            EXPECT_THAT(names, testing::Contains("parked"));
            EXPECT_THAT(names, testing::Contains("take_turns"));
            EXPECT_NE(samples.calls()[i], no_call);
        }
        return looks;
    };
    constexpr size_t enough = 100;
    ASSERT_TRUE(session.pump_until([&] { return looks_at().weights.size() >= enough; }));
    program.go();
    const nlohmann::json account = program.account();
    ASSERT_TRUE(session.pump_until(
        [&] { return session.model().probe_statistics(id).returns == account["waits"]; }));

    // At a look each of N tasks waits with probability p, whatever the others do. So the share that
    // is seen has the variance p (1 - p) / (N L) where looks stand for L equal spans of time, in
    // effect; here five deviations of the sum. What each task waited behind the last look is
    // unseen.
    const Looks looks = looks_at();
    double weights = 0, squares = 0;
    for (const uint64_t ns : looks.weights) {
        const auto weight = static_cast<double>(ns);
        weights += weight;
        squares += weight * weight;
    }
    const double waited = account["waited_ns"], tasks = account["tasks"],
                 p = waited / (tasks * account["whole_ns"].get<double>()),
                 effective = weights * weights / squares;
    fmt::print("{} looks, {:.0f} in effect: {:.1f} ms of {:.1f} ms, {:.1f} % of the time\n",
               looks.weights.size(), effective, looks.sum_ns / 1e6, waited / 1e6, 100 * p);
    const auto longest = static_cast<double>(*looks.weights.rbegin());
    EXPECT_NEAR(looks.sum_ns, waited,
                5 * waited * std::sqrt((1 - p) / (p * tasks * effective)) + tasks * longest);

    const Account sums = make_account(session.model());
    EXPECT_GE(sums.classes[CallClass::fast].samples, enough);
    EXPECT_EQ(sums.classes[CallClass::slow].samples, 0);
    EXPECT_EQ(sums.classes[CallClass::open].samples, 0);
    session.expect_samples_add_up();
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Values of calls say what asyncio calls the task, as soon as it has been seen twice.
TEST_P(ParkedTasks, HaveNamesInValues) {
    Program program(GetParam(), {parked_program});
    Session session;
    observe(session, program);
    CallConditions show_tasks;
    show_tasks.show = {"task"};
    session.time("libc:sched_get_priority_max", {Threshold::Kind::fixed, 1, 0}, show_tasks);
    program.go();
    ASSERT_TRUE(session.pump_until([&] {
        return std::ranges::any_of(session.log.slow_calls, [&](const StreamLog::SlowCall& call) {
            return session.log.value(call, "task").find(" (Task-") != std::string::npos;
        });
    }));
    program.go();
    (void)program.account();
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// ... and so do stacks of what they run.
TEST_P(ParkedTasks, HaveNamesInStacks) {
    Program program(GetParam(), {parked_program});
    Session session;
    observe(session, program);
    must(session.backend().set_sampling({.rate_hz = 999, .tasks = true}));
    program.go();
    const auto is_named = [&](StackId stack) {
        return task_in(session, stack).frame.starts_with("[task python_parked.take_turns Task-");
    };
    ASSERT_TRUE(session.pump_until([&] {
        return std::ranges::any_of(
            session.log.samples, [&](const SampleEvent& sample) { return is_named(sample.stack); });
    }));
    program.go();
    (void)program.account();
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(Interpreters, ParkedTasks, testing::ValuesIn(pythons()), python_name);

} // namespace
} // namespace auger::test
