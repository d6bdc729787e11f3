// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of exchanges and spans of a program of tokio's form, whose tasks go from thread to thread
// in the middle of them while the threads poll others: held against a server that has a function of
// its own for each kind of request.
#include "loader/kernel/features.h"
#include "tests/kernel/exchange_work.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <array>
#include <chrono>
#include <string>

namespace auger::test {
namespace {

constexpr std::array task_work = {"work_at_once", "work_sleeping", "work_yielding",
                                  "work_for_nobody"};

// The server has been told to go on, and `id` is the split's probe.
void expect_samples_of_tasks(Program& program, Session& session, ProbeId id,
                             nlohmann::json& truth) {
    truth = program.account();
    must(session.backend().set_sampling({}));
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(std::chrono::seconds(60));
    EXPECT_EQ(session.model().probe_statistics(id).returns, truth["served"].get<double>());

    expect_work_in_its_exchanges(session, task_work);
}

// Where a runtime's switches are not watched nobody says that a task was on a thread, nor that it
// was not.
void expect_park_unknown(const CallStatistics& spans) {
    EXPECT_EQ(spans.span.attached, 0);
    EXPECT_EQ(spans.span.parked, 0);
    EXPECT_EQ(spans.span.served_or_parked(spans.sum_ns), spans.sum_ns - spans.span.queued);
    EXPECT_GT(spans.sum_ns, 2 * spans.span.queued);
}

class TokioExchanges : public KernelTest, public testing::WithParamInterface<bool> {};

TEST_P(TokioExchanges, HoldTheSamplesOfTheTasksThatAnswerThem) {
    if (!Features::detect().socket_tracepoints)
        GTEST_SKIP() << "this kernel has no tracepoints of sockets";
    Program program("tokio_tasks", {"--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id{100};
    split_by_exchanges(session, id);
    must(session.backend().set_sampling({1999, GetParam()}));
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    program.go();
    nlohmann::json truth;
    expect_samples_of_tasks(program, session, id, truth);
    expect_park_unknown(session.model().probe_statistics(id));
}

class TokioSpans : public KernelTest, public testing::WithParamInterface<bool> {};

// By the number of the task. With points that say when it is polled threads work for the span, and
// how long nobody did is known.
TEST_P(TokioSpans, OfTasksAreTheirs) {
    Program program("tokio_tasks", {"--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    using Role = SpanPoint::Role;
    SpanDefinition span;
    span.text = "a span of tasks";
    span.points = {{.role = Role::from, .probe = "take_up", .key = "task"},
                   {.role = Role::to, .probe = "answer", .key = "task"}};
    if (GetParam()) {
        span.points.push_back({.role = Role::resume,
                               .probe = "tokio::runtime::task::core::TaskIdGuard::enter",
                               .key = "arg0"});
        span.points.push_back(
            {.role = Role::park,
             .probe = "<tokio::runtime::task::core::TaskIdGuard as core::ops::drop::Drop>::drop",
             .key = "task"});
    }
    const ProbeId id{100};
    must(session.backend().add_probe({id, "request", {}, {}, span}));
    SplitInfo split;
    split.active = true;
    split.probe = id;
    split.threshold = {Threshold::Kind::fixed, 10'000'000, 0};
    must(session.backend().set_split(split));
    must(session.backend().set_sampling({1999, true}));
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    program.go();
    nlohmann::json truth;
    expect_samples_of_tasks(program, session, id, truth);
    const CallStatistics spans = session.model().probe_statistics(id);
    EXPECT_EQ(spans.entries, spans.returns);
    EXPECT_EQ(spans.stray, 0u);
    if (!GetParam()) {
        expect_park_unknown(spans);
        return;
    }
    EXPECT_GE(spans.span.parked, truth["least_parked_ns"].get<double>());
    EXPECT_LE(spans.span.parked, truth["most_parked_ns"].get<double>());
    EXPECT_EQ(spans.span.watched, spans.span.attached);
}

INSTANTIATE_TEST_SUITE_P(Clocks, TokioExchanges, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "wall" : "cpu"); });
INSTANTIATE_TEST_SUITE_P(Points, TokioSpans, testing::Bool(), [](const auto& info) {
    return std::string(info.param ? "FromToResumePark" : "FromTo");
});

} // namespace
} // namespace auger::test
