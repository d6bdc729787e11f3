// SPDX-License-Identifier: GPL-3.0-or-later
// Words of commands that are not the whole subject of another live test, each on a program that
// knows what they make of it.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/support/http_client.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

class LiveWords : public LiveTest {
  protected:
    // The control group of this test, and of what it starts.
    static std::string own_group() {
        const std::string groups = text_of("/proc/self/cgroup");
        const size_t at = groups.find("0::");
        return groups.substr(at + 3, groups.find('\n', at) - at - 3);
    }
    size_t recordings() const {
        size_t count = 0;
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path("kept"), none))
            count += entry.path().extension() == ".auger";
        return count;
    }
};

TEST_F(LiveWords, ViewsEndInThePastAndComeBack) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve", "wait 500ms"});
    see_all(auger, shop);
    auger.run({"window 10s until 400ms"});
    EXPECT_EQ(auger.ask("hist serve")["count"], 0) << "the shop was closed then";
    auger.run({"window all"});
    EXPECT_EQ(auger.ask("hist serve")["count"], shop.served());
    auger.run({"ewma 10s until 400ms"});
    EXPECT_EQ(auger.ask("hist serve")["count"], 0);
    auger.run({"ewma off"});
    EXPECT_EQ(auger.ask("hist serve")["count"], shop.served());
}

// The apprentice is another process; all of them are in one group.
TEST_F(LiveWords, FiltersAreByProcessAndGroup) {
    for (const bool by_process : {true, false}) {
        Shop shop;
        LiveAuger auger({"-p", shop.pid()});
        if (by_process)
            auger.run({"filter pid " + shop.pid()});
        else
            auger.run({"filter cgroup " + own_group()});
        auger.run({"time serve"});
        shop.open();
        shop.close();
        const uint64_t counted = by_process ? shop.plain() + shop.difficult() : shop.served();
        auger.run({fmt::format("wait until calls serve >= {} for 60s", counted)});
        EXPECT_EQ(auger.ask("hist serve")["count"], counted);
    }
}

TEST_F(LiveWords, FiltersAreByThread) {
    Program program("spinner", {"--threads", "3", "--seconds", "300"});
    program.wait_ready();
    std::string tid;
    ASSERT_TRUE(wait_until([&] { // it has named itself
        for (const auto& task :
             std::filesystem::directory_iterator(fmt::format("/proc/{}/task", program.pid())))
            if (text_of(task.path() / "comm") == "spin-1\n")
                tid = task.path().filename();
        return !tid.empty();
    }));
    LiveAuger auger({"-p", std::to_string(program.pid())});
    auger.run({"filter tid " + tid, "sample 999"});
    EXPECT_TRUE(wait_until([&] {
        auger.run({"wait 100ms"});
        return samples_of(auger.ask("flame")) > 100;
    }));
    EXPECT_EQ(labels_of(auger.ask("flame by tid")), std::set<std::string>{"spin-1 " + tid});
    program.signal(SIGTERM);
}

// What waits weighs whole periods of that clock, not of the other one.
TEST_F(LiveWords, WaitsHaveAClockOfTheirOwn) {
    Program program("waits", {"--calls", "50", "--wait", "--linger"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    auger.run({"sample wall 1999 waits 199"});
    program.go();
    (void)program.account();
    auger.run({"sample off"});
    constexpr uint64_t period = 1'000'000'000 / 199;
    double samples = 0;
    const json flame = auger.ask("flame");
    for (const json& entry : flame["stacks"]) {
        if (std::ranges::find(entry["stack"], json("sleeps")) == entry["stack"].end() ||
            entry["cpu"] != 0)
            continue;
        EXPECT_EQ(entry["weight"].get<uint64_t>() % period, 0u) << entry;
        samples += entry["samples"].get<double>();
    }
    EXPECT_GT(samples, 20);
    program.go();
}

TEST_F(LiveWords, TargetsAreNarrowedDown) {
    Shop shop;
    LiveAuger auger({});
    const std::string serve = "'" + program_path("shop") + ":serve'";
    auger.run({"target -n shop user root cgroup " + own_group(), "time " + serve});
    EXPECT_THAT(auger.ask("target")["processes"].dump(), HasSubstr("\"pid\":" + shop.pid() + ","));
    see_all(auger, shop, serve);
    EXPECT_EQ(auger.ask("hist 1")["count"], shop.served());
}

TEST_F(LiveWords, ATreeHasTheChildrenThatAreThere) {
    constexpr int children = 7;
    Program program("departures", {std::to_string(children), "0"});
    program.wait_ready();
    program.go();
    EXPECT_EQ(program.read_line(), "here");
    LiveAuger auger({});
    const std::string pid = std::to_string(program.pid());
    auger.run({"target -p " + pid});
    EXPECT_EQ(auger.ask("target")["processes"].size(), 1u);
    auger.run({"target " + pid + " --tree"});
    EXPECT_EQ(auger.ask("target")["processes"].size(), 1u + children);
    program.go();
    EXPECT_TRUE(program.account()["ok"].get<bool>());
}

// Each probe's calls end in the way that was set when it was made.
TEST_F(LiveWords, EachProbeHasItsWayOut) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"exit auto", "time serve", "exit cheap", "time search", "exit trampoline",
               "time ring", "exit ret", "time advise"});
    see_all(auger, shop);
    EXPECT_EQ(auger.ask("hist serve")["count"], shop.served());
    EXPECT_EQ(auger.ask("hist search")["count"], shop.searches());
    EXPECT_EQ(auger.ask("hist ring")["count"], shop.account["rings"]);
    EXPECT_EQ(auger.ask("hist advise")["count"], shop.served());
    std::map<std::string, std::string> ways;
    for (const json& probe : auger.all("probes"))
        ways[probe["spec"]] = probe["kind"];
    EXPECT_THAT(ways["ring"], HasSubstr("trampoline"));
    EXPECT_THAT(ways["advise"], testing::Not(HasSubstr("trampoline")));
}

TEST_F(LiveWords, CallsAreChosenByTheirValues) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"slow serve > 1ns if kind == 1", "split serve if kind == 1"});
    see_all(auger, shop);
    const uint64_t difficult = shop.difficult() + shop.apprentices() / 10;
    EXPECT_EQ(auger.all("calls serve").size(), difficult);
    auger.run({"assert taken serve == " + std::to_string(difficult),
               "assert not-taken serve == " + std::to_string(shop.served() - difficult)});
    for (const json& call : auger.all("calls serve -n 3 --depth 1"))
        EXPECT_EQ(call["stack"], json({"serve"}));
    EXPECT_EQ(auger.ask("sites search in serve")["sites"].size(), 1u);
    EXPECT_EQ(auger.ask("sites advise in serve")["sites"].size(), 1u);
}

TEST_F(LiveWords, FunctionsExplainCallsThatAreNamedAndPicked) {
    Program program("parts", {"--calls", "200", "--wait", "--linger"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    auger.run({"sample wall 1999", "time handle", "time parse", "time lookup",
               "explain handle by parse"});
    program.go();
    const json account = program.account();
    auger.run({"wait until calls handle >= " + account["handled"].dump() + " for 60s"});
    const json table = auger.ask("explain");
    std::set<std::string> parts;
    for (const json& part : table["functions"])
        parts.insert(part.value("function", ""));
    EXPECT_TRUE(parts.contains("parse")) << table;
    EXPECT_FALSE(parts.contains("lookup")) << table;
    EXPECT_EQ(table["calls"], account["handled"]);
    EXPECT_EQ(auger.ask("explain -n 1")["functions"].size(), 1u);
    auger.run({"explain handle auto", "explain off"});
}

TEST_F(LiveWords, APlaceThatIsReachedKeepsWhatLedToIt) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve",
               "on trace ring record last 10s in " + folder_.path("kept") + " every 1s keep 1"});
    see_all(auger, shop);
    EXPECT_TRUE(wait_until([&] {
        auger.run({"wait 100ms"});
        return recordings() > 0;
    }));
    auger.run({"on trace ring off"});
    // A newer one takes the place of the first when it is whole.
    EXPECT_TRUE(wait_until([&] { return recordings() == 1; }));
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("kept"))) {
        EXPECT_THAT(entry.path().filename().string(), HasSubstr("ring"));
        const Outcome replayed =
            test::auger({"--batch", "--json", "--replay", entry.path(), "-e", "calls ring"});
        EXPECT_EQ(replayed.code, 0) << replayed.err;
        EXPECT_THAT(replayed.out, HasSubstr("\"ring\""));
    }
}

TEST_F(LiveWords, ExportsAreOfWhatIsAskedFor) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve", "sample 4999"});
    see_all(auger, shop);
    auger.run({"sample off"});
    const std::string file = folder_.path("any");
    auger.run({"save " + file + " by comm under search --format collapsed"});
    double sum = 0;
    std::istringstream lines(text_of(file));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#'))
            continue;
        EXPECT_TRUE(line.starts_with("clerk-") || line.starts_with("apprentice") ||
                    line.starts_with("shop"))
            << line;
        EXPECT_THAT(line, HasSubstr(";search"));
        sum += std::stod(line.substr(line.rfind(' ') + 1));
    }
    EXPECT_EQ(sum, samples_of(auger.ask("flame under search")));
    EXPECT_GT(sum, 0);
}

TEST_F(LiveWords, ASocketIsServedForAUser) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    const std::string place = "unix:" + folder_.path("a.sock");
    auger.run({"time serve", "serve " + place + " for root"});
    see_all(auger, shop);
    HttpClient client(place);
    client.get("/status");
    EXPECT_TRUE(wait_until([&] { return client.closed(); }));
    EXPECT_EQ(client.status(), 200);
    EXPECT_EQ(json::parse(client.body())["calls"]["entries"], shop.served());
}

// A request is open from where it is taken to where it is closed; none is worked for before.
TEST_F(LiveWords, SpansBeginQueuedAndAreKept) {
    Program program("requests", {"--calls", "200", "--wait", "--linger"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    auger.run({"span request from open_request if ret != 0 key ret queued keep to close_request "
               "key arg0 resume work_on key arg0 park put_aside limit 10m"});
    program.go();
    const json account = program.account();
    auger.run({"wait until calls request >= " + account["closed"].dump() + " for 60s"});
    const json hist = auger.ask("hist request");
    EXPECT_EQ(hist["count"], account["closed"]);
    EXPECT_LE(hist["max"], account["longest_around_ns"]);
    EXPECT_GT(hist["span"]["times"]["queued"], 0);
}

class LiveUnixExchanges : public LiveWords {
    void SetUp() override {
        LiveWords::SetUp();
        if (!IsSkipped())
            skip_without_exchanges();
    }
};

TEST_F(LiveUnixExchanges, AreThoseOfTheSocket) {
    const std::string socket = folder_.path("server.sock");
    Program program("exchanges", {"--calls", "100", "--wait", "--linger", "--unix", socket});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    auger.run({"span asked exchanges unix " + socket});
    program.go();
    const json account = program.account();
    auger.run({"wait until calls asked >= " + account["served"].dump() + " for 60s"});
    EXPECT_EQ(auger.ask("hist asked")["count"], account["served"]);
}

} // namespace
} // namespace auger::test
