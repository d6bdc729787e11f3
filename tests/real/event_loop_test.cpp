// SPDX-License-Identifier: GPL-3.0-or-later
// Event loops of Debian's, under load: their requests are spans, not calls. What auger says of them
// is compared with the servers' own logs and counts, and the flame of the slow ones names what was
// planted.
#include "tests/real/nginx.h"
#include "tests/real/observed_servers.h"
#include "tests/real/redis.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

namespace auger::test {
namespace {

class EventLoop : public KernelTest {
  protected:
    static double share(const json& flame, const std::string& in_class, const std::string& prefix) {
        return share_of_class(flame, in_class, [&](const std::string& function) {
            return function.starts_with(prefix);
        });
    }

    // All that began has ended, and nothing is unexplained.
    static void expect_account(const json& hist, uint64_t count) {
        EXPECT_EQ(hist["count"], count);
        for (const char* none : {"unwound", "open", "dropped"})
            EXPECT_EQ(hist[none], 0u) << none;
        EXPECT_EQ(hist["span"]["expired"], 0u);
        EXPECT_EQ(hist["span"]["stray_ends"], 0u);
    }
};

TEST_F(EventLoop, NginxRequestsAreThoseThatItLogs) {
    if (!is_installed<Nginx>())
        GTEST_SKIP() << "install " << Nginx::packages;
    Nginx nginx;
    LiveAuger auger({"-p", std::to_string(nginx.pid())});
    auger.run({"overhead off", "sample 999",
               "span request from ngx_http_create_request key ret "
               "to ngx_http_free_request key arg0 resume ngx_http_core_run_phases key arg0 "
               "resume ngx_http_output_filter key arg0 park epoll_wait"});
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t asked = nginx.load();
    const std::chrono::duration<double, std::nano> loaded =
        std::chrono::steady_clock::now() - begin;
    auger.run({"wait until calls request >= " + std::to_string(asked) + " for 60s"});
    const json hist = auger.ask("hist request");
    expect_account(hist, asked);
    EXPECT_EQ(nginx.logged_requests(), asked);
    // Every client makes one request after the other, so all requests take no longer than all
    // clients did; a request may end after its answer has come, hence 10 %. (Its log does not tell:
    // nginx reads the clock once a turn of its loop, in which whole requests begin and end.)
    double least = 0;
    for (const json& bucket : hist["buckets"])
        least += bucket[0].get<double>() * bucket[2].get<double>();
    EXPECT_LE(least, 1.1 * Nginx::clients * loaded.count());
    // The large files are 40 of 1,040 requests, and take longest.
    auger.run({"split request > p90"});
    const json flame = auger.ask("flame");
    EXPECT_GE(share(flame, "slow", "libz"), 0.8);
    EXPECT_LE(share(flame, "fast", "libz"), 0.2);
    nginx.expect_answer();
    EXPECT_EQ(nginx.stop(), 0);
}

// CPU time of the server's first thread, and how long it was ready and had none.
std::pair<double, double> schedule_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
    double cpu_ns = 0, delay_ns = 0;
    file >> cpu_ns >> delay_ns;
    return {cpu_ns, delay_ns};
}

double run_delay_ns(pid_t pid) {
    return schedule_of(pid).second;
}

double busy_ns(pid_t pid) {
    const auto [cpu_ns, delay_ns] = schedule_of(pid);
    return cpu_ns + delay_ns;
}

// Requests that wait, each against $request_time. That has whole milliseconds, of a clock that
// nginx reads once a turn of its loop: both ends are that of the turn's beginning. So each is off
// by 1 ms and by the part of its two turns that is before its begin or its end, in which nginx is
// busy, or waits for a CPU. No more than all clients can begin in a turn, nor end.
TEST_F(EventLoop, NginxDurationsAreRequestTimes) {
    if (!is_installed<Nginx>())
        GTEST_SKIP() << "install " << Nginx::packages;
    Nginx nginx;
    LiveAuger auger({"-p", std::to_string(nginx.pid())});
    auger.run({"overhead off", "span auto", "trace request show off"});
    nginx.logged_durations();
    const double before_ns = busy_ns(nginx.pid());
    const uint64_t asked = nginx.paced_load();
    auger.run({"wait until slow request >= " + std::to_string(asked) + " for 60s"});
    const double busy_ms = (busy_ns(nginx.pid()) - before_ns) / 1e6;
    const auto calls = auger.all("calls request");
    const auto logged = nginx.logged_durations();
    ASSERT_EQ(calls.size(), asked);
    ASSERT_EQ(logged.size(), asked);
    double off_ms = 0, all_ms = 0;
    for (size_t i = 0; i < asked; i++) {
        all_ms += logged[i] * 1e3;
        off_ms += std::abs(calls[i]["duration"].get<double>() / 1e6 - logged[i] * 1e3);
    }
    const double rounding_ms = 1 * static_cast<double>(asked);
    fmt::print("{:.0f} ms in all, {:.1f} ms off; nginx was busy for {:.1f} ms\n", all_ms, off_ms,
               busy_ms);
    EXPECT_LE(off_ms, rounding_ms + 2 * Nginx::clients * busy_ms);
    nginx.expect_answer();
    EXPECT_EQ(nginx.stop(), 0);
}

TEST_F(EventLoop, RedisCommandsAreThoseThatItCounts) {
    if (!is_installed<Redis>())
        GTEST_SKIP() << "install " << Redis::packages;
    Redis redis;
    LiveAuger auger({"-p", std::to_string(redis.pid())});
    auger.run({"overhead off", "sample 999",
               "span command from processInputBuffer key arg0 keep to writeToClient%return key "
               "arg0"});
    const uint64_t before = redis.commands();
    redis.load();
    // Asking how many is one, too, which only the next answer counts.
    const uint64_t carried_out = redis.commands() - before + 1;
    auger.run({"wait until calls command >= " + std::to_string(carried_out) + " for 60s"});
    expect_account(auger.ask("hist command"), carried_out);
    // 10 scripts in some 2,000 commands; what has come in the same turn of the loop as one waits
    // with it for its answer, which is written at the turn's end.
    auger.run({"split command > p95"});
    const json flame = auger.ask("flame");
    EXPECT_GE(share(flame, "slow", "luaCallFunction"), 0.8);
    EXPECT_LE(share(flame, "fast", "luaCallFunction"), 0.05);
    redis.expect_answer();
    EXPECT_EQ(redis.stop(), 0);
}

// Each command is one call of `call`, most of which is what the log has. The scripts are far longer
// than anything else, unless something else wanted for a CPU.
TEST_F(EventLoop, RedisDurationsAreThoseOfItsSlowLog) {
    if (!is_installed<Redis>())
        GTEST_SKIP() << "install " << Redis::packages;
    constexpr size_t scripts = 10;
    Redis redis;
    redis.log_all();
    LiveAuger auger({"-p", std::to_string(redis.pid())});
    auger.run({"overhead off", "slow call > 200us show off"});
    const double before_ns = run_delay_ns(redis.pid());
    redis.load();
    auger.run({"wait until calls call >= 2010 for 60s"});
    const double delay_ns = run_delay_ns(redis.pid()) - before_ns;
    EXPECT_EQ(auger.ask("hist call")["count"], 2010u);
    std::vector<double> logged = redis.logged_durations(), timed;
    EXPECT_EQ(logged.size(), 2010u);
    for (const json& call : auger.all("calls call"))
        timed.push_back(call["duration"].get<double>());
    ASSERT_GE(timed.size(), scripts);
    std::ranges::sort(logged, std::greater<>());
    std::ranges::sort(timed, std::greater<>());
    double all_ns = 0, off_ns = 0;
    for (size_t i = 0; i < scripts; i++) {
        EXPECT_GE(timed[i], logged[i] - 1e3) << "it is what the log has, and more";
        all_ns += logged[i];
        off_ns += std::abs(timed[i] - logged[i]);
    }
    fmt::print("{:.1f} ms in all, {:.3f} ms off\n", all_ns / 1e6, off_ns / 1e6);
    // What is around it: an entry of the log, some microseconds of milliseconds.
    EXPECT_LE(off_ns, 0.02 * all_ns + delay_ns);
    redis.expect_answer();
    EXPECT_EQ(redis.stop(), 0);
}

// Without a symbol: seen at the sockets alone.
TEST_F(EventLoop, NginxExchangesAreTheRequestsThatItLogs) {
    if (!is_installed<Nginx>())
        GTEST_SKIP() << "install " << Nginx::packages;
    Nginx nginx;
    LiveAuger auger({"-p", std::to_string(nginx.pid())});
    auger.run({"overhead off", "sample 999", "span http exchanges"});
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t asked = nginx.load();
    const std::chrono::duration<double, std::nano> loaded =
        std::chrono::steady_clock::now() - begin;
    auger.run({"wait until calls http >= " + std::to_string(asked) + " for 60s"});
    const json hist = auger.ask("hist http");
    expect_account(hist, asked);
    EXPECT_EQ(hist["filtered"], 0u);
    EXPECT_EQ(nginx.logged_requests(), asked);
    // As above; here nothing but the end of a send may come behind the client's.
    double least = 0;
    for (const json& bucket : hist["buckets"])
        least += bucket[0].get<double>() * bucket[2].get<double>();
    EXPECT_LE(least, 1.1 * Nginx::clients * loaded.count());
    // Whoever comes while a large file is compressed is slow, too, but has no samples: it is
    // queued.
    EXPECT_GT(hist["span"]["times"]["queued"], 0);
    auger.run({"split http > p50"});
    const json flame = auger.ask("flame");
    EXPECT_GE(share(flame, "slow", "libz"), 0.8);
    EXPECT_LE(share(flame, "fast", "libz"), 0.2);
    nginx.expect_answer();
    EXPECT_EQ(nginx.stop(), 0);
}

TEST_F(EventLoop, RedisExchangesAreTheCommandsThatItCounts) {
    if (!is_installed<Redis>())
        GTEST_SKIP() << "install " << Redis::packages;
    Redis redis;
    LiveAuger auger({"-p", std::to_string(redis.pid())});
    auger.run({"overhead off", "sample 999", "span command exchanges"});
    const uint64_t before = redis.commands();
    redis.load();
    const uint64_t carried_out = redis.commands() - before + 1;
    auger.run({"wait until calls command >= " + std::to_string(carried_out) + " for 60s"});
    const json hist = auger.ask("hist command");
    expect_account(hist, carried_out);
    EXPECT_EQ(hist["filtered"], 0u);
    // Others wait in the queue of the socket while a script runs.
    EXPECT_GT(hist["span"]["times"]["queued"], 0);
    redis.expect_answer();
    EXPECT_EQ(redis.stop(), 0);
}

} // namespace
} // namespace auger::test
