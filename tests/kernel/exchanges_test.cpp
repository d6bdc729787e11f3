// SPDX-License-Identifier: GPL-3.0-or-later
// Exchanges: what is asked and answered on accepted connections, seen at the socket. The server
// knows for each of them two times that it lies between, by the same clock.
#include "tests/kernel/late_tracepoint.h"
#include "tests/kernel/sampled_server.h"
#include "tests/support/durations.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using Arguments = std::vector<std::string>;

void expect_account(const CallStatistics& exchanges) {
    EXPECT_EQ(exchanges.entries, exchanges.returns + exchanges.unwound + exchanges.expired +
                                     exchanges.dropped + exchanges.filtered +
                                     static_cast<double>(exchanges.open));
    const Ambiguous& ambiguous = exchanges.ambiguous;
    EXPECT_EQ(exchanges.filtered,
              ambiguous.early + ambiguous.unasked + ambiguous.tls + ambiguous.http2);
}

class Exchanges : public ExchangeTest {
  protected:
    static ProbeId add(Session& session, ExchangeDefinition definition = {}, Threshold slow = {}) {
        const ProbeId id{100};
        SpanDefinition span;
        span.exchanges = definition;
        span.text = "exchanges";
        session.report = must(session.backend().add_probe({id, "exchange", slow, {}, span}));
        return id;
    }
    static CallStatistics settled(Session& session, ProbeId id, double seen) {
        EXPECT_TRUE(session.pump_until([&] {
            const CallStatistics now = session.model().probe_statistics(id);
            return now.returns + now.filtered + now.unwound >= seen && now.open == 0;
        }));
        const CallStatistics exchanges = session.model().probe_statistics(id);
        expect_account(exchanges);
        return exchanges;
    }
    // The server runs to its end, but stays; what came of its exchanges.
    struct Run {
        nlohmann::json truth;
        CallStatistics exchanges;
    };
    static Run run(const Arguments& arguments, double expected,
                   ExchangeDefinition definition = {}) {
        Arguments all = {"--wait", "--linger"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        Program program("exchanges", all);
        program.wait_ready();
        Session session;
        session.observe(program.pid());
        const ProbeId id = add(session, definition);
        program.go();
        Run run;
        run.truth = program.account();
        EXPECT_TRUE(run.truth["ok"].get<bool>());
        run.exchanges = settled(session, id, expected);
        program.go();
        EXPECT_EQ(program.wait_exit(), 0);
        return run;
    }
};

void expect_times(const CallStatistics& exchanges, const nlohmann::json& truth) {
    expect_served(exchanges, truth);
    EXPECT_GT(exchanges.span.queued, 0);
}

TEST_F(Exchanges, AreCountedAndTimedAsTheServerDoes) {
    const Run threads = run({"--calls", "300"}, 1200);
    expect_times(threads.exchanges, threads.truth);
    // A thread works for one all the time.
    EXPECT_EQ(threads.exchanges.span.parked, 0);
    const Run loop = run({"--calls", "300", "--loop"}, 1200);
    expect_times(loop.exchanges, loop.truth);
}

// Each by itself, from the shortest to the longest.
TEST_F(Exchanges, LieBetweenWhatTheServerKnowsOfEach) {
    Program program("exchanges", {"--calls", "40", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session, {}, {Threshold::Kind::fixed, 1, 0});
    program.go();
    const nlohmann::json truth = program.account();
    settled(session, id, 160);
    ASSERT_TRUE(session.pump_until([&] { return session.log.slow_calls.size() == 160; }));
    std::vector<uint64_t> seen, inside, around;
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        seen.push_back(call.end.duration_ns);
        EXPECT_EQ(call.end.time_ns, call.end.call.start_ns + call.end.duration_ns);
    }
    for (const auto& times : truth["times"]) {
        inside.push_back(times[0]);
        around.push_back(times[1]);
    }
    ASSERT_EQ(inside.size(), seen.size());
    for (std::vector<uint64_t>* all : {&seen, &inside, &around})
        std::ranges::sort(*all);
    for (size_t i = 0; i < seen.size(); i++) {
        EXPECT_GE(seen[i], inside[i]);
        EXPECT_LE(seen[i], around[i]);
    }
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(Exchanges, OfConnectionsFromBeforeAreThoseThatBeginNow) {
    // What is received first on a connection that had data may be the rest of something.
    const Run used = run({"--calls", "20", "--before", "3"}, 4 * 16);
    EXPECT_EQ(used.exchanges.returns, 4 * 16);
    EXPECT_EQ(used.exchanges.stray, 4);
    EXPECT_EQ(used.exchanges.entries, 4 * 16);
}

TEST_F(Exchanges, OfOtherPortsAreNone) {
    Program program("exchanges", {"--calls", "50", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId all = add(session), other{101};
    SpanDefinition span;
    span.exchanges = {.port = 1, .unix_path = {}};
    must(session.backend().add_probe({other, "other", {}, {}, span}));
    program.go();
    const nlohmann::json truth = program.account();
    settled(session, all, 4 * 50);
    EXPECT_EQ(session.model().probe_statistics(other).entries, 0);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// The kernel counts no bytes of a unix socket; what comes and goes has to do.
class UnixExchanges : public Exchanges {
  protected:
    static Run run_at(const std::string& path, Arguments arguments, double expected,
                      uint64_t quiet_ns = ExchangeDefinition::default_quiet_ns) {
        arguments.insert(arguments.end(), {"--unix", path});
        return run(arguments, expected, {0, path, quiet_ns});
    }
    const TemporaryFolder folder_;
    const std::string path_ = folder_.path("socket");
};

TEST_F(UnixExchanges, AreCountedAndTimedAsTheServerDoes) {
    const Run threads = run_at(path_, {"--calls", "300"}, 1200);
    expect_times(threads.exchanges, threads.truth);
    EXPECT_EQ(threads.exchanges.span.parked, 0);
    const Run loop = run_at("@" + path_, {"--calls", "300", "--loop"}, 1200);
    expect_times(loop.exchanges, loop.truth);
}

// The first on a connection, and each that comes upon an answer.
TEST_F(UnixExchanges, CountAlsoWhenWhatIsAskedIsReceivedBeforeItIsSaidToHaveCome) {
    const LateTracepoint late("sk_data_ready", "spinning", 4000);
    const Run all = run_at(path_, {"--calls", "50", "--spin"}, 200);
    expect_served(all.exchanges, all.truth);
    EXPECT_EQ(all.exchanges.stray, 0);
}

// An interrupt comes while auger's own program judges what has come, and the server is quicker.
TEST_F(UnixExchanges, CountAlsoWhenWhatIsAskedIsReceivedWhileItIsJudged) {
    const LateTracepoint late("hrtimer_expire_entry", "spinning", 400);
    Program program("exchanges", {"--calls", "2000", "--connections", "1", "--spin", "--unix",
                                  path_, "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session, {0, path_});
    session.sample(49999); // which is what interrupts
    program.go();
    const nlohmann::json truth = program.account();
    const CallStatistics exchanges = settled(session, id, 2000);
    expect_served(exchanges, truth);
    EXPECT_EQ(exchanges.stray, 0);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(UnixExchanges, OfConnectionsFromBeforeAreAllThatAreAskedNow) {
    const Run used = run_at(path_, {"--calls", "20", "--before", "3"}, 4 * 17);
    EXPECT_EQ(used.exchanges.returns, 4 * 17);
    EXPECT_EQ(used.exchanges.stray, 0);
}

TEST_F(UnixExchanges, ThatNobodyCanTellAreCountedApart) {
    Run all = run_at(path_, {"--calls", "20", "--pipeline"}, 4 * 200);
    EXPECT_EQ(all.exchanges.returns, 0);
    EXPECT_EQ(all.exchanges.ambiguous.early, 4 * 200);
    all = run_at(path_, {"--calls", "20", "--first-bytes", "tls"}, 4 * 20);
    EXPECT_EQ(all.exchanges.returns, 0);
    EXPECT_EQ(all.exchanges.ambiguous.tls, 4 * 20);
    all = run_at(path_, {"--calls", "1", "--push", "3"}, 4 * 4, 100 * ms);
    EXPECT_EQ(all.exchanges.returns, 4);
    EXPECT_EQ(all.exchanges.ambiguous.unasked, 4 * 3);
    // That a connection is new is not known of one on which the server speaks first.
    all = run_at(path_, {"--calls", "20", "--greet"}, 4 * 20);
    EXPECT_EQ(all.exchanges.stray, 4);
    EXPECT_EQ(all.exchanges.returns + all.exchanges.ambiguous.early, 4 * 20);
    EXPECT_LE(all.exchanges.ambiguous.early, 4); // of the first of each: see connections
}

// Nothing else would end the last one of each connection in time.
TEST_F(UnixExchanges, EndWhenTheClientHasClosedItsConnection) {
    const Run closed = run_at(path_, {"--calls", "20"}, 4 * 20, 3'600'000 * ms);
    EXPECT_EQ(closed.exchanges.returns, 4 * 20);
}

// The record at the end of a request is received when it has been answered, as PHP does it.
TEST_F(Exchanges, OfFastCgiEndWithTheirAnswers) {
    Run all = run({"--calls", "300", "--fastcgi"}, 1200);
    expect_times(all.exchanges, all.truth);
    all = run({"--calls", "300", "--fastcgi", "--fastcgi-apart"}, 1200);
    expect_times(all.exchanges, all.truth);
    all = run({"--calls", "20", "--fastcgi", "--before", "3"}, 4 * 16);
    EXPECT_EQ(all.exchanges.returns, 4 * 16);
    EXPECT_EQ(all.exchanges.stray, 4);
}

TEST_F(UnixExchanges, OfFastCgiEndWithTheirAnswers) {
    Run all = run_at(path_, {"--calls", "300", "--fastcgi"}, 1200);
    expect_times(all.exchanges, all.truth);
    all = run_at(path_, {"--calls", "300", "--fastcgi", "--fastcgi-apart"}, 1200);
    expect_times(all.exchanges, all.truth);
    all = run_at(path_, {"--calls", "20", "--fastcgi", "--before", "3"}, 4 * 16);
    EXPECT_EQ(all.exchanges.returns, 4 * 16);
    EXPECT_EQ(all.exchanges.stray, 4);
}

// The rest of a request from before has left the queue when the next one comes, which looks like
// the first that has ever come.
TEST_F(UnixExchanges, OfFastCgiAreToldFromWhatWasReceivedBeforeThem) {
    const LateTracepoint late("sock_recv_length", "exchanges", 200'000);
    const Run all = run_at(
        path_, {"--connections", "16", "--calls", "8", "--fastcgi", "--before", "3"}, 16 * 4);
    EXPECT_EQ(all.exchanges.returns, 16 * 4);
    EXPECT_EQ(all.exchanges.entries, 16 * 4);
    EXPECT_EQ(all.exchanges.stray, 16);
}

TEST_F(UnixExchanges, OfOtherPathsAndOfTcpAreNone) {
    Program program("exchanges", {"--calls", "50", "--unix", path_, "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId here = add(session, {0, path_});
    std::vector<ProbeId> others;
    for (const ExchangeDefinition& other :
         {ExchangeDefinition{}, ExchangeDefinition{0, path_ + "2"}, ExchangeDefinition{0, "@x"}}) {
        others.emplace_back(101 + others.size());
        SpanDefinition span;
        span.exchanges = other;
        must(session.backend().add_probe({others.back(), "other", {}, {}, span}));
    }
    program.go();
    program.account();
    settled(session, here, 4 * 50);
    for (const ProbeId other : others)
        EXPECT_EQ(session.model().probe_statistics(other).entries, 0);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(UnixExchanges, OfTenThousandConnectionsAreAllCounted) {
    const Run all = run_at(path_, {"--calls", "1", "--connections", "10000", "--loop"}, 10'000);
    EXPECT_EQ(all.exchanges.returns, 10'000);
    EXPECT_EQ(all.exchanges.entries, 10'000);
}

void expect_purity(Arguments arguments, bool is_loop, const ExchangeDefinition& definition = {}) {
    arguments.insert(arguments.begin(), {"--calls", "1000"});
    SampledServer server("exchanges", arguments, definition, 2 * ms);
    auto hard = server.classes_of("think_hard"), light = server.classes_of("think");
    SCOPED_TRACE(testing::PrintToString(hard) + testing::PrintToString(light));
    ASSERT_GE(hard["all"], 100);
    ASSERT_GE(light["all"], 50);
    // A difficult exchange is slow; a plain one may be, where the machine is busy.
    EXPECT_GE(hard["slow"], 0.99 * hard["all"]);
    EXPECT_GE(light["slow"] + light["fast"], 0.99 * light["all"]);
    if (is_loop)
        return;
    auto between = server.classes_of("think_between"),
         afterwards = server.classes_of("think_afterwards");
    SCOPED_TRACE(testing::PrintToString(between) + testing::PrintToString(afterwards));
    ASSERT_GE(between["all"], 50);
    ASSERT_GE(afterwards["all"], 100);
    EXPECT_GE(between["slow"] + between["fast"], 0.99 * between["all"]);
    // What comes behind the last send is in none.
    EXPECT_GE(afterwards["outside"], 0.99 * afterwards["all"]);
}

TEST_F(Exchanges, HoldTheSamplesOfTheThreadThatServesTheConnection) {
    expect_purity({}, false);
}

TEST_F(UnixExchanges, HoldTheSamplesOfTheThreadThatServesTheConnection) {
    expect_purity({"--unix", path_}, false, {0, path_});
}

TEST_F(Exchanges, HoldTheSamplesOfAnEventLoop) {
    expect_purity({"--loop", "--connections", "32", "--calls", "200"}, true);
}

TEST_F(Exchanges, ThatNobodyCanTellAreCountedApart) {
    Run all = run({"--calls", "20", "--greet"}, 4 * 21);
    EXPECT_EQ(all.exchanges.returns, 0);
    EXPECT_EQ(all.exchanges.ambiguous.unasked, 4 * 21);
    EXPECT_EQ(all.truth["greetings"], 4);
    all = run({"--calls", "20", "--pipeline"}, 4 * 200);
    EXPECT_EQ(all.exchanges.returns, 0);
    EXPECT_EQ(all.exchanges.ambiguous.early, 4 * 200);
    all = run({"--calls", "20", "--first-bytes", "tls"}, 4 * 20);
    EXPECT_EQ(all.exchanges.returns, 0);
    EXPECT_EQ(all.exchanges.ambiguous.tls, 4 * 20);
    all = run({"--calls", "20", "--first-bytes", "http2"}, 4 * 20);
    EXPECT_EQ(all.exchanges.returns, 0);
    EXPECT_EQ(all.exchanges.ambiguous.http2, 4 * 20);
}

// Of connections that were there before auger: each request says what it is.
TEST_F(Exchanges, OfConnectionsFromBeforeThatSpeakTlsOrHttp2AreAmbiguous) {
    for (const char* protocol : {"tls", "http2"}) {
        const Run all = run({"--calls", "20", "--before", "3", "--later-bytes", protocol}, 4 * 16);
        EXPECT_EQ(all.exchanges.returns, 0) << protocol;
        EXPECT_EQ(all.exchanges.ambiguous.tls + all.exchanges.ambiguous.http2, 4 * 16) << protocol;
        EXPECT_EQ(all.exchanges.ambiguous.tls, protocol[0] == 't' ? 4 * 16 : 0);
        EXPECT_EQ(all.exchanges.entries, 4 * 16);
    }
}

// However long there is nothing of it between.
TEST_F(Exchanges, OfTlsAreCountedOnceEach) {
    const Run all =
        run({"--calls", "1", "--first-bytes", "tls", "--push", "2"}, 4, {0, {}, 100 * ms});
    EXPECT_EQ(all.truth["pushes"], 4 * 2);
    EXPECT_EQ(all.exchanges.entries, 4);
    EXPECT_EQ(all.exchanges.ambiguous.tls, 4);
    EXPECT_EQ(all.exchanges.ambiguous.unasked, 0);
}

// The server has sent what there was room for, and waits for more of it.
TEST_F(Exchanges, GoOnWhileTheClientTakesNoMore) {
    // Once each: later its buffers are as large as it has needed them before.
    const Run all =
        run({"--calls", "1", "--connections", "6", "--stall-ms", "350"}, 6, {0, {}, 100 * ms});
    EXPECT_EQ(all.exchanges.returns, 6);
    EXPECT_EQ(all.exchanges.ambiguous.unasked, 0);
    EXPECT_GE(all.exchanges.min_ns, 350 * ms);
}

// The one before the first push is one.
TEST_F(Exchanges, AreNoSendsThatNobodyAskedFor) {
    const Run all = run({"--calls", "1", "--push", "3"}, 4 * 4, {0, {}, 100 * ms});
    EXPECT_EQ(all.truth["pushes"], 4 * 3);
    EXPECT_EQ(all.exchanges.returns, 4);
    EXPECT_EQ(all.exchanges.ambiguous.unasked, 4 * 3);
    EXPECT_LE(all.exchanges.max_ns, all.truth["longest_around_ns"].get<uint64_t>());
}

TEST_F(Exchanges, OfClientsThatAreKilledAreAccountedFor) {
    Program program("exchanges", {"--calls", "2000", "--connections", "32", "--kill-after", "500",
                                  "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session);
    session.sample(997);
    program.go();
    const nlohmann::json truth = program.account();
    const CallStatistics exchanges = settled(session, id, truth["served"].get<double>());
    // Of an answer in two parts the first may have been all that could be sent.
    EXPECT_GE(exchanges.returns, truth["served"].get<double>());
    EXPECT_LE(exchanges.entries, truth["served"].get<double>() + 32);
    EXPECT_EQ(exchanges.filtered, 0);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Also those of one port: the kernel has taken that from the socket by the time it tells of it.
TEST_F(Exchanges, OfConnectionsThatAreResetAreUnanswered) {
    const Arguments arguments = {"--calls", "20", "--connections", "8", "--reset"};
    for (const uint16_t port : {uint16_t{0}, uint16_t{18'412}}) {
        SCOPED_TRACE(port);
        Arguments all = arguments;
        all.insert(all.end(), {"--port", std::to_string(port)});
        const Run resets = run(all, 8 * 21, {.port = port, .unix_path = {}});
        EXPECT_EQ(resets.truth["unanswered"], 8);
        EXPECT_EQ(resets.exchanges.returns, 8 * 20);
        EXPECT_EQ(resets.exchanges.unwound, 8);
        EXPECT_EQ(resets.exchanges.entries, 8 * 21);
    }
}

TEST_F(Exchanges, OfTenThousandConnectionsAreAllCounted) {
    const Run all = run({"--calls", "1", "--connections", "10000", "--loop"}, 10'000);
    EXPECT_EQ(all.exchanges.returns, 10'000);
    EXPECT_EQ(all.exchanges.entries, 10'000);
}

TEST_F(Exchanges, OfAServerThatExitsEndWithIt) {
    Program program("exchanges",
                    {"--calls", "0", "--connections", "16", "--exit-after", "500", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session);
    session.sample(997);
    program.go();
    session.pump_to_end();
    const CallStatistics exchanges = session.model().probe_statistics(id);
    EXPECT_GE(exchanges.returns, 500);
    EXPECT_LE(exchanges.entries, 500 + 16);
    EXPECT_EQ(exchanges.open, 0);
    expect_account(exchanges);
}

TEST_F(Exchanges, AreWatchedWhileASpanAsksForThem) {
    Program program("exchanges", {"--calls", "0"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const size_t links = session.backend().links().size();
    const ProbeId id = add(session);
    EXPECT_GT(session.backend().links().size(), links);
    ASSERT_TRUE(session.pump_until([&] { return session.calls(id).returns > 100; }));
    must(session.backend().set_attached(id, false));
    EXPECT_EQ(session.backend().links().size(), links);
    const Calls off = session.calls(id);
    must(session.backend().set_attached(id, true));
    // What was sent in between is not known to be so.
    ASSERT_TRUE(session.pump_until([&] { return session.calls(id).returns > off.returns + 100; }));
    EXPECT_EQ(session.calls(id).filtered, 0);
    must(session.backend().remove_probe(id));
    EXPECT_EQ(session.backend().links().size(), links);
}

} // namespace
} // namespace auger::test
