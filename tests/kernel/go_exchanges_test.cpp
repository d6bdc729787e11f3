// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of exchanges of a Go program, whose goroutines go from thread to thread in the middle of
// them while their threads work for others: held against a server that has a function of its own
// for each kind of request.
#include "loader/kernel/features.h"
#include "tests/kernel/exchange_work.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "views/model/classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace auger::test {
namespace {

constexpr std::array work = {"main.workAtOnce", "main.workSleeping", "main.workYielding",
                             "main.workAsking", "main.workSpawned",  "main.workForNobody"};
constexpr size_t spawned = 4, for_nobody = 5;

class GoServer : public KernelTest {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped())
            return;
        if (!Features::detect().socket_tracepoints)
            GTEST_SKIP() << "this kernel has no tracepoints of sockets";
        if (!std::filesystem::exists(program_path("go_exchanges")))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
    static ProbeId watch_exchanges(Session& session, const ExchangeDefinition& exchanges = {}) {
        const ProbeId id{100};
        split_by_exchanges(session, id, exchanges);
        return id;
    }
    static std::string account(const CallStatistics& exchanges) {
        return fmt::format("{} began = {} answered + {} unanswered + {} expired + {} open + {} "
                           "dropped + {} ambiguous; {} early, {} unasked",
                           exchanges.entries, exchanges.returns, exchanges.unwound,
                           exchanges.expired, exchanges.open, exchanges.dropped, exchanges.filtered,
                           exchanges.ambiguous.early, exchanges.ambiguous.unasked);
    }
    static void watch_goroutines(Session& session) {
        must(session.backend().set_sampling({1999, true}));
        ASSERT_TRUE(session.pump_until([&] {
            must(session.backend().refresh());
            return session.backend().unwind_status().pending.empty() &&
                   session.model().ledger().goroutines == LedgerEvent::Goroutines::watched;
        }));
    }
};

class GoExchanges : public GoServer, public testing::WithParamInterface<bool> {};

TEST_P(GoExchanges, HoldTheSamplesOfTheGoroutinesThatAnswerThem) {
    Program program("go_exchanges", {});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = watch_exchanges(session);
    const nlohmann::json truth = sample_whole_work(session, program, GetParam());
    EXPECT_EQ(session.model().probe_statistics(id).returns, truth["served"].get<double>())
        << account(session.model().probe_statistics(id));

    const auto found = samples_of_work(session, work);
    for (size_t i = 0; i < for_nobody; i++) {
        EXPECT_GE(found[i].all(), 300u) << work[i];
        // Who starts whom is known while goroutines are watched.
        if (i == spawned && !GetParam()) {
            EXPECT_EQ(found[i].none, found[i].all());
            continue;
        }
        // Where the goroutine's memory cannot be read just then, it works for nothing that is
        // known.
        EXPECT_EQ(found[i].other, 0u) << work[i];
        EXPECT_LE(found[i].none * 200, found[i].all()) << work[i];
    }
    EXPECT_GE(found[for_nobody].all(), 100u);
    EXPECT_EQ(found[for_nobody].none, found[for_nobody].all());
}

class GoHandovers : public GoServer, public testing::WithParamInterface<const char*> {};

// Descriptors of goroutines that have ended are those of new ones: net/http's that read ahead end
// while the request is open of which they have received the first byte.
TEST_P(GoHandovers, AreToNobodyWhoHasTheDescriptorNext) {
    Program program(GetParam(), {});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = watch_exchanges(session);
    const nlohmann::json truth = sample_whole_work(session, program);
    EXPECT_EQ(session.model().probe_statistics(id).returns, truth["served"].get<double>())
        << account(session.model().probe_statistics(id));

    constexpr std::array functions = {"main.workReceiving", "main.workAfterwards"};
    const auto found = samples_of_work(session, functions);
    EXPECT_GE(found[0].all(), 300u);
    EXPECT_EQ(found[0].other, 0u);
    // Where the goroutine's memory cannot be read just then.
    EXPECT_LE(found[0].none * 200, found[0].all());
    EXPECT_GE(found[1].all(), 300u);
    EXPECT_EQ(found[1].none, found[1].all());
}

INSTANTIATE_TEST_SUITE_P(Builds, GoHandovers,
                         testing::Values("go_handovers", "go_handovers_stripped"),
                         [](const auto& info) { return std::string(info.param); });

// Its requests wait, asleep for 20 ms or for somebody's answer for 30 ms. Of a wait there are as
// many ticks of its goroutine's clock as periods of 0.5 ms, more or less one, evenly: of 200 waits
// the sum is off by 0.1 % (standard deviation). Where a goroutine's memory cannot be read just
// then, its exchange is not watched: of one in 200.
TEST_F(GoServer, HasExchangesWhoseParkedTimeAndStacksAreTheirs) {
    constexpr std::array waits = {"main.waitAsleep", "main.waitForAnswer"};
    Program program("go_exchanges", {"--parks", "50"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = watch_exchanges(session);
    ASSERT_NO_FATAL_FAILURE(watch_goroutines(session));
    program.go();
    const nlohmann::json truth = program.account();
    // That a send was the last one is found out later.
    EXPECT_TRUE(session.pump_until([&] {
        return session.model().probe_statistics(id).returns == truth["served"].get<double>();
    }));
    must(session.backend().set_sampling({}));
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(std::chrono::seconds(60));

    const CallStatistics exchanges = session.model().probe_statistics(id);
    const SpanTimes& times = exchanges.span;
    const double seldom = 0.005 * exchanges.sum_ns;
    EXPECT_EQ(exchanges.returns, truth["served"].get<double>()) << account(exchanges);
    EXPECT_LE(times.sum(), (1 + 1e-9) * exchanges.sum_ns);
    EXPECT_LE(times.served_or_parked(exchanges.sum_ns) + times.attached - times.watched, seldom);
    EXPECT_LE(times.blocked + times.runnable, times.watched);
    const double least = truth["least_ns"].get<double>(), most = truth["most_ns"].get<double>();
    EXPECT_GE(times.parked, 0.98 * least);
    // What is left is HTTP's own, which seldom waits for anybody.
    EXPECT_LE(times.parked, 1.02 * most);

    const Model& model = session.model();
    const Classifier classify(model);
    const SampleStore& samples = model.samples();
    std::array<double, 2> parked{};
    double in_none = 0;
    std::map<CallIndex, size_t> wait_of;
    for (size_t i = 0; i < samples.size(); i++) {
        const auto names = session.stack_names(samples.stacks()[i]);
        const auto wait = std::ranges::find_if(waits, [&](const char* function) {
            return std::ranges::find(names, function) != names.end();
        });
        if (samples.kinds()[i] != SampleKind::blocked || wait == waits.end())
            continue;
        const auto at = static_cast<size_t>(wait - waits.begin());
        const CallIndex exchange = classify.outermost(samples.calls()[i], samples.times()[i]);
        const auto weight = static_cast<double>(samples.weights()[i]);
        if (exchange == no_call) {
            in_none += weight;
            continue;
        }
        EXPECT_EQ(wait_of.try_emplace(exchange, at).first->second, at);
        parked.at(at) += weight;
    }
    EXPECT_LE(in_none, seldom);
    EXPECT_NEAR(parked[0] + parked[1], times.parked, 0.02 * times.parked);
    // As 20 ms to 30 ms.
    EXPECT_GT(parked[1], 1.2 * parked[0]);
}

// Of a slow one it is told what its goroutine waited for longest.
TEST_F(GoServer, SaysWhatSlowExchangesWereParkedFor) {
    Program program("go_exchanges", {"--parks", "5"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = watch_exchanges(session);
    must(session.backend().set_slow(id, {Threshold::Kind::fixed, 10'000'000, 0}));
    ASSERT_NO_FATAL_FAILURE(watch_goroutines(session));
    program.go();
    const nlohmann::json truth = program.account();
    program.go();
    session.pump_to_end();
    std::set<std::string> waits;
    for (const SlowCall& call : session.model().slow_calls()) {
        EXPECT_GE(call.longest_wait.blocked_ns, 10'000'000u);
        waits.insert(call.longest_wait.what);
    }
    EXPECT_EQ(session.model().slow_calls().size(), truth["served"].get<size_t>());
    EXPECT_THAT(waits, testing::ElementsAre("parked: chan receive", "parked: sleep"));
}

// A pause is six times as long as exchanges may be quiet, and its goroutine sleeps in it. Before
// that another goroutine has sent what there was: the answer remains the former's.
TEST_F(GoServer, HasOneExchangeOfAnAnswerWithAPause) {
    Program program("go_exchanges", {"--pauses", "5"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ExchangeDefinition exchanges;
    exchanges.quiet_ns = 50'000'000;
    const ProbeId id = watch_exchanges(session, exchanges);
    ASSERT_NO_FATAL_FAILURE(watch_goroutines(session));
    program.go();
    const nlohmann::json truth = program.account();
    program.go();
    session.pump_to_end();
    const CallStatistics found = session.model().probe_statistics(id);
    EXPECT_EQ(found.returns, truth["served"].get<double>()) << account(found);
    EXPECT_EQ(found.entries, found.returns);
    EXPECT_GE(found.min_ns, 300'000'000u);
    EXPECT_EQ(found.span.watched, found.span.attached);
    EXPECT_GE(found.span.parked, 300e6 * found.returns); // the pauses
    EXPECT_LE(found.span.parked, found.sum_ns);
}

INSTANTIATE_TEST_SUITE_P(Clocks, GoExchanges, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "wall" : "cpu"); });

} // namespace
} // namespace auger::test
