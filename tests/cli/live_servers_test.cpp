// SPDX-License-Identifier: GPL-3.0-or-later
// Web servers in several languages, each with a slow request now and then, as somebody looks at
// them who knows their port only: the flame of the slow exchanges names what these did.
#include "tests/cli/live_auger.h"
#include "tests/support/http_client.h"
#include "tests/support/javas.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

namespace auger::test {
namespace {

struct Server {
    std::string name, program;
    std::vector<std::string> arguments;
    std::string cause;  // as flames have it
    bool waits = false; // in a task, which no thread's sample tells of
    int requests = 60;  // of each client
    int planted() const;
};

std::ostream& operator<<(std::ostream& out, const Server& server) {
    return out << server.name;
}

constexpr int clients = 3;
constexpr double planted_ns = 60e6;
int Server::planted() const {
    return clients * requests / 10;
}

// One after the other, those with a 7 at the end the slow ones. Their number, answered as they
// should be.
int ask_for_pages(const std::string& port, int requests) {
    int answered = 0;
    for (int i = 0; i < requests; i++) {
        HttpClient client("127.0.0.1:" + port);
        client.get("/page/" + std::to_string(i));
        answered += wait_until([&] { return client.closed(); }) && client.status() == 200;
    }
    return answered;
}

int ask_at_once(const std::string& port, int requests) {
    std::vector<int> answered(clients);
    std::vector<std::thread> threads;
    for (int& one : answered)
        threads.emplace_back([&] { one = ask_for_pages(port, requests); });
    for (std::thread& thread : threads)
        thread.join();
    return std::accumulate(answered.begin(), answered.end(), 0);
}

class LiveServers : public LiveTest, public testing::WithParamInterface<Server> {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (IsSkipped())
            return;
        if (access(GetParam().program.c_str(), X_OK) != 0)
            GTEST_SKIP() << GetParam().program << " is not installed";
        skip_without_exchanges();
    }
};

TEST_P(LiveServers, FlamesOfSlowExchangesNameTheCause) {
    const Server& server = GetParam();
    Program program(server.program, server.arguments);
    program.wait_ready();
    const std::string port = program.read_line();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    ASSERT_TRUE(wait_until([&] { return auger.ask("status")["unwinding"]["pending"] == json(0); }));
    auger.run({"span http exchanges port " + port, "slow http > 50ms", "split http > 50ms",
               "sample wall 997"});
    EXPECT_EQ(ask_at_once(port, server.requests), clients * server.requests);
    program.go();
    const json account = program.account();
    EXPECT_EQ(account["served"], clients * server.requests);
    EXPECT_EQ(account["planted"], server.planted());
    auger.run({"wait until calls http >= " + account["served"].dump() + " for 60s", "sample off",
               "assert calls http == " + account["served"].dump()});
    const std::vector<json> slow = auger.all("calls http -n 1000");
    EXPECT_GE(slow.size(), static_cast<size_t>(server.planted()));
    EXPECT_TRUE(
        std::ranges::all_of(slow, [](const json& call) { return call["duration"] > 50'000'000u; }));
    // Half of it, since a stack may be cut; none of it is anywhere else.
    const json flame = auger.ask("flame slow");
    const double of_cause = ns_in(flame, server.cause);
    if (server.waits) { // of which a busy machine has few samples, that stand for much time each
        const double all = ns_in(flame, "python3");
        EXPECT_GE(all, of_cause);
        // On a busy machine others are slow, too: so much of the time of all is the planted one's.
        const double of_slow =
            std::accumulate(slow.begin(), slow.end(), 0.0, [](double sum, const json& call) {
                return sum + call["duration"].get<double>();
            });
        EXPECT_GT(of_cause, all * server.planted() * planted_ns / of_slow / 2);
    } else {
        EXPECT_GT(of_cause, server.planted() * planted_ns / 2);
    }
    for (const char* other : {"flame fast", "flame outside"})
        EXPECT_EQ(ns_in(auger.ask(other), server.cause), 0) << other;
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

const std::string folder = AUGER_SOURCE_DIR "/tests/programs/";
INSTANTIATE_TEST_SUITE_P(
    Languages, LiveServers,
    testing::Values(
        Server{"Java", javas().front(), {folder + "JavaServer.java"}, "JavaServer.reconcile"},
        Server{"Node", "/usr/bin/node", {folder + "slow_requests.js"}, "reconcile"},
        Server{"Python", "/usr/bin/python3", {folder + "slow_requests.py"}, "reconcile"},
        Server{"Asyncio", "/usr/bin/python3", {folder + "slow_awaits.py"}, "reconcile", true, 120},
        Server{"Go", program_path("slow_requests"), {}, "main.reconcile"},
        Server{"GoThatWaits", program_path("slow_requests"), {"--wait"}, "main.reconcile"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
