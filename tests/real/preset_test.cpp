// SPDX-License-Identifier: GPL-3.0-or-later
// What `span auto` knows of servers, beside what they count and log themselves.
#include "tests/real/haproxy.h"
#include "tests/real/mariadb.h"
#include "tests/real/observed_servers.h"
#include "tests/real/postgres.h"

namespace auger::test {
namespace {

class Preset : public KernelTest {};

TEST_F(Preset, PostgresQueriesAreThoseThatItLogs) {
    if (!is_installed<Postgres>())
        GTEST_SKIP() << "install " << Postgres::packages;
    Postgres postgres;
    LiveAuger auger({"-p", std::to_string(postgres.pid()), "--tree"});
    auger.run({"overhead off", "sample 999", "span auto"});
    double waited = 0; // by the clients
    for (const char* protocol : {"simple", "extended", "prepared"})
        waited += postgres.load(protocol);
    waited += postgres.fail_once();
    Postgres::Logged logged;
    // The log is written by a process of its own, in the order of what happened.
    ASSERT_TRUE(wait_until([&] {
        const Postgres::Logged more = postgres.logged();
        logged.queries += more.queries;
        logged.errors += more.errors;
        logged.seconds += more.seconds;
        return logged.errors == 1;
    }));
    const uint64_t queries = logged.queries + logged.errors;
    auger.run({"wait until calls query >= " + std::to_string(queries) + " for 60s"});
    const json hist = auger.ask("hist query");
    EXPECT_EQ(hist["count"], queries);
    for (const char* none : {"unwound", "open", "dropped"})
        EXPECT_EQ(hist[none], 0u) << none;
    // A connection says once that it is ready before its first query: pgbench's first and its
    // clients' of each load, the error's.
    EXPECT_EQ(hist["span"]["stray_ends"], 3 * (1 + 4) + (1 + 1));
    // A query lasts from about where the log's begins until its line has been written, which a busy
    // machine may take any time for; and its client waits for longer.
    double least = 0, most = 0;
    for (const json& bucket : hist["buckets"]) {
        least += bucket[0].get<double>() * bucket[2].get<double>() / 1e9;
        most += bucket[1].get<double>() * bucket[2].get<double>() / 1e9;
    }
    EXPECT_GE(waited, least);
    EXPECT_LE(logged.seconds, 1.1 * most);
    // 1 of 20 has a long series, which is made and then read.
    auger.run({"split query > p90", "assert share slow ExecMakeTableFunctionResult > 30%",
               "assert share fast ExecMakeTableFunctionResult < 5%", "assert lost == 0"});
    postgres.expect_answer();
    EXPECT_EQ(postgres.stop(), 0);
}

TEST_F(Preset, MariaDbCommandsAreThoseThatItCounts) {
    if (!is_installed<MariaDb>())
        GTEST_SKIP() << "install " << MariaDb::packages;
    MariaDb mariadb;
    LiveAuger auger({"-p", std::to_string(mariadb.pid())});
    const uint64_t before = mariadb.questions();
    auger.run({"overhead off", "sample 999", "span auto"});
    mariadb.load();
    // One goodbye more, and one less.
    const uint64_t asked = mariadb.questions() - before;
    auger.run({"wait until calls dispatch_command >= " + std::to_string(asked) + " for 60s"});
    const json hist = auger.ask("hist dispatch_command");
    EXPECT_EQ(hist["count"], asked);
    EXPECT_EQ(hist["unwound"], 0);
    // 4 of 100 statements read the whole table (mariadb.aug says why it is not p99).
    auger.run({"split dispatch_command > p95", "assert share slow rr_sequential > 50%"});
    mariadb.expect_answer();
    EXPECT_EQ(mariadb.stop(), 0);
}

TEST_F(Preset, HaproxyRequestsAreThoseThatItCounts) {
    if (!is_installed<Haproxy>())
        GTEST_SKIP() << "install " << Haproxy::packages;
    Haproxy haproxy;
    LiveAuger auger({"-p", std::to_string(haproxy.pid())});
    const uint64_t before = haproxy.requests();
    auger.run({"overhead off", "sample wall 99", "span auto", "slow stream > 1ns"});
    const uint64_t asked = haproxy.load();
    // The one that asked before is counted now; the one that asks now is timed.
    EXPECT_EQ(haproxy.requests() - before, asked + 1);
    auger.run({"wait until calls stream >= " + std::to_string(asked + 1) + " for 60s"});
    const json hist = auger.ask("hist stream");
    EXPECT_EQ(hist["count"], asked + 1);
    for (const char* none : {"unwound", "open", "dropped"})
        EXPECT_EQ(hist[none], 0u) << none;
    EXPECT_EQ(hist["span"]["stray_ends"], 0u);
    // It waits for its timer, which counts milliseconds, without a thread.
    EXPECT_GE(hist["span"]["times"]["parked"],
              uint64_t{1'000'000} * Haproxy::held_requests * (Haproxy::held_ms - 1));
    haproxy.expect_answer();
    EXPECT_EQ(haproxy.stop(), 0);
}

} // namespace
} // namespace auger::test
