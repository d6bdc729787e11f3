// SPDX-License-Identifier: GPL-3.0-or-later
// USDT probes as somebody types them, on a program that counts what it passes.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/kernel/source_lines.h"

namespace auger::test {
namespace {

using testing::HasSubstr;

class LiveUsdt : public LiveTest {
  protected:
    LiveUsdt() { program_.wait_ready(); }

    std::string pid() const { return std::to_string(program_.pid()); }
    // All orders are taken, and auger knows of them.
    json take_orders(LiveAuger& auger) {
        program_.go();
        const json account = program_.account();
        auger.run({"wait until entries usdt:shop:order__start >= " + account["orders"].dump() +
                   " for 60s"});
        return account;
    }

    Program program_{"usdt", {"--calls", "500", "--wait", "--linger"}};
};

TEST_F(LiveUsdt, AreListedCountedAndFiltered) {
    LiveAuger auger({"-p", pid()});
    const json listed = auger.ask("probes usdt order*");
    ASSERT_EQ(listed["usdt"].size(), 2u);
    EXPECT_EQ(listed["usdt"][0]["provider"], "shop");
    EXPECT_EQ(listed["usdt"][0]["semaphore"], true);
    EXPECT_THAT(listed["usdt"][0]["module"].get<std::string>(), testing::EndsWith("/usdt"));

    const std::string line = marked_line("usdt.c", "ORDER");
    EXPECT_EQ(auger.ask("time usdt:shop:tick")["places"].size(), 2u);
    auger.run(
        {"time usdt:shop:order__start", "time " + line,
         "only usdt:shop:order__start if arg1 >= 700", "time usdt:libusdt*:shop:shipped",
         "span order from usdt:shop:order__start key arg0 to usdt:shop:order__done key arg0"});
    const json account = take_orders(auger);

    const json tick = auger.ask("hist usdt:shop:tick");
    EXPECT_EQ(tick["count"], account["ticks"]);
    EXPECT_EQ(tick["p50"], nullptr);
    EXPECT_EQ(tick["max"], nullptr);
    EXPECT_EQ(tick["buckets"].size(), 0u);
    EXPECT_EQ(auger.ask("hist " + line)["count"], account["orders"]);
    EXPECT_EQ(auger.ask("hist usdt:libusdt*:shop:shipped")["count"], account["orders"]);
    EXPECT_EQ(auger.ask("hist usdt:shop:order__start")["count"], account["large"]);
    const json order = auger.ask("hist order");
    EXPECT_EQ(order["count"], account["orders"]);
    EXPECT_GT(order["min"], 0);
    uint64_t ticks = 0;
    for (const json& place : auger.all("probes"))
        if (place["spec"] == "usdt:shop:tick") {
            EXPECT_EQ(place["kind"], "count");
            ticks += place["calls"].get<uint64_t>();
        }
    EXPECT_EQ(ticks, account["ticks"]);
}

// Each hit, by class of the call that it happened in.
TEST_F(LiveUsdt, TraceListsWhatWasReachedInSlowCalls) {
    LiveAuger auger({"-p", pid()});
    auger.run(
        {"split take_order > p90", "trace usdt:shop:order__start if arg0 <= 100",
         "trace usdt:shop:measure if str(arg6) == \"special\" and arg0 <= 100 show str(arg6)"});
    const json account = take_orders(auger);
    auger.run({"wait until slow usdt:shop:order__start >= 100 for 60s",
               "wait until slow usdt:shop:measure >= 20 for 60s"});
    EXPECT_EQ(auger.ask("hist usdt:shop:order__start")["count"], account["orders"]);
    const auto orders = auger.all("calls usdt:shop:order__start");
    ASSERT_EQ(orders.size(), 100u);
    for (size_t i = 0; i < orders.size(); i++) {
        EXPECT_EQ(orders[i]["values"]["arg0"], std::to_string(i + 1));
        EXPECT_TRUE(orders[i]["duration"].is_null());
        EXPECT_EQ(orders[i]["threshold"], 0);
        EXPECT_EQ(orders[i]["stack"][0], "take_order");
    }
    // Every fifth; of whatever class its order turned out to be.
    const auto special = auger.all("calls usdt:shop:measure");
    ASSERT_EQ(special.size(), 20u);
    size_t classed = 0;
    for (const char* of : {"slow", "fast", "open", "outside"})
        classed += auger.all("calls usdt:shop:measure " + std::string(of)).size();
    EXPECT_EQ(classed, special.size());
    EXPECT_EQ(auger.all("calls usdt:shop:measure outside").size(), 0u);
    for (const json& call : special)
        EXPECT_EQ(call["values"]["str(arg6)"], "\"special\"");
    const std::string settings = folder_.path("session.aug");
    auger.run({"save " + settings, "trace usdt:shop:measure off"});
    EXPECT_THAT(text_of(settings), HasSubstr("trace usdt:shop:order__start if arg0 <= 100\n"));
}

TEST_F(LiveUsdt, WhatTheyCannotHaveIsRefusedAtTheWord) {
    const auto refused = [&](const std::string& line, const std::string& word,
                             const std::string& why) {
        const Outcome outcome = auger({"--batch", "-p", pid(), "-e", line});
        EXPECT_NE(outcome.code, 0) << line;
        const size_t column = line.find(word) + 1;
        EXPECT_THAT(outcome.err, HasSubstr("-e:1:" + std::to_string(column) + ": error: ")) << line;
        EXPECT_THAT(outcome.err, HasSubstr(why)) << line;
    };
    const std::string line = marked_line("usdt.c", "ORDER");
    refused("slow usdt:shop:tick > 1ms", "usdt", "has no duration");
    refused("split usdt:shop:tick > p95", "usdt", "has no duration");
    refused("slow " + line + " > 1ms", "usdt.c", "has no duration");
    refused("split " + line + " > p95", "usdt.c", "has no duration");
    refused("only in usdt:shop:tick", "usdt", "has no duration");
    refused("time usdt:shop:tock", "usdt", "did you mean shop:tick");
    refused("time usdt:shop:rest", "usdt", "5-byte nop");
    refused("probes usdt nothing*", "nothing", "no such USDT probe");
    refused("span o from usdt:shop:order__start key arg7 to usdt:shop:order__done", "arg7",
            "has 3 arguments");
}

TEST_F(LiveUsdt, HistSaysThatThereIsNoDuration) {
    const std::string recording = folder_.path("usdt.augr");
    program_.go();
    const Outcome live = auger({"--batch", "-p", pid(), "-e", "record " + recording, "-e",
                                "time usdt:shop:shipped; hist usdt:shop:shipped; probes"});
    EXPECT_EQ(live.code, 0) << live.err;
    EXPECT_THAT(live.out, HasSubstr("counting usdt:shop:shipped"));
    EXPECT_THAT(live.out, HasSubstr("reached 0 times"));
    EXPECT_THAT(live.out, HasSubstr("A place has no duration: it is counted."));
    EXPECT_THAT(live.out, HasSubstr("usdt:shop:shipped  counted"));
    const Outcome replayed =
        auger({"--batch", "--replay", recording, "-e", "hist usdt:shop:shipped"});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("A place has no duration: it is counted."));
}

} // namespace
} // namespace auger::test
