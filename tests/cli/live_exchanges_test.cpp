// SPDX-License-Identifier: GPL-3.0-or-later
// Exchanges, as somebody types it who knows a server by its port only; the server knows better.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <algorithm>

namespace auger::test {
namespace {

using testing::HasSubstr;

class LiveExchanges : public LiveTest {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!IsSkipped())
            skip_without_exchanges();
    }
};

TEST_F(LiveExchanges, AreCountedSplitTracedAndRecorded) {
    Program program("exchanges", {"--calls", "200", "--wait", "--linger"});
    program.wait_ready();
    const std::string recording = folder_.path("exchanges.auger"),
                      saved = folder_.path("exchanges.aug"),
                      again_saved = folder_.path("again.aug");
    const std::string definition = "span http exchanges quiet 300ms limit 30s";
    json before;
    {
        LiveAuger auger({"-p", std::to_string(program.pid()), "--record", recording});
        auger.run({"sample wall 997", definition, "slow http > 2ms"});
        program.go();
        const json account = program.account();
        const std::string served = account["served"].dump();
        auger.run({"wait until calls http >= " + served + " for 60s",
                   "assert calls http == " + served, "split http > 2ms", "assert lost == 0"});
        before = auger.ask("hist http");
        EXPECT_EQ(before["count"], account["served"]);
        EXPECT_LE(before["max"], account["longest_around_ns"]);
        EXPECT_EQ(before["filtered"], 0u);
        const json none = {{"early", 0u}, {"unasked", 0u}, {"tls", 0u}, {"http2", 0u}};
        EXPECT_EQ(before["span"]["ambiguous"], none);
        EXPECT_EQ(before["span"]["definition"], "exchanges quiet 300ms limit 30s");
        // The slow ones are those that think hard, and what comes behind an answer is in none.
        EXPECT_GT(cpu_ns_in(auger.ask("flame slow"), "think_hard"), 0);
        for (const char* other : {"flame fast", "flame outside"})
            EXPECT_EQ(cpu_ns_in(auger.ask(other), "think_hard"), 0) << other;
        EXPECT_GT(cpu_ns_in(auger.ask("flame outside"), "think_afterwards"), 0);
        for (const char* other : {"flame fast", "flame slow"})
            EXPECT_EQ(cpu_ns_in(auger.ask(other), "think_afterwards"), 0) << other;
        const std::vector<json> calls = auger.all("calls http");
        EXPECT_GE(calls.size(), 4u * 10);
        EXPECT_TRUE(std::ranges::all_of(calls, [](const json& call) {
            return call["class"] == "slow" && call["duration"] > 2'000'000u;
        }));
        auger.run({"save " + saved, "record off", "only in http", "only http > 2ms", "only off"});
        EXPECT_THAT(text_of(saved), HasSubstr(definition));
        // It is taken back, and made again.
        auger.run({"delete http", "undo"});
        EXPECT_EQ(auger.all("open http").size(), 0u);
    }
    const Outcome replayed =
        auger({"--batch", "--json", "--replay", recording, "-e", "hist http; save " + again_saved});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    json again = answer_to("hist", replayed.out);
    for (const char* field : {"count", "open", "span", "max", "p95"})
        EXPECT_EQ(again[field], before[field]) << field;
    EXPECT_THAT(text_of(again_saved), HasSubstr(definition));
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(LiveExchanges, ThatCannotBeAreRefused) {
    Program program("exchanges", {"--calls", "1", "--wait", "--linger"});
    program.wait_ready();
    const auto refused = [&](const std::string& commands) {
        const Outcome outcome =
            auger({"--batch", "-p", std::to_string(program.pid()), "-e", commands});
        EXPECT_EQ(outcome.code, 1) << outcome.out;
        return outcome.err;
    };
    EXPECT_THAT(refused("span http exchanges; split http if arg0 > 1"),
                HasSubstr("a span has no arguments"));
    EXPECT_THAT(refused("span a exchanges; span b exchanges port 80; span c exchanges port 81; "
                        "span d exchanges port 82; delete a; span e exchanges port 83; "
                        "span f exchanges port 84"),
                HasSubstr("there are 4 such spans already"));
}

TEST_F(LiveExchanges, ThatNobodyCanTellAreShownWithTheReason) {
    Program program("exchanges", {"--calls", "10", "--pipeline", "--wait", "--linger"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    auger.run({"span http exchanges"});
    program.go();
    program.account();
    EXPECT_TRUE(wait_until([&] { return auger.ask("hist http")["filtered"] == 400u; }));
    const json hist = auger.ask("hist http");
    EXPECT_EQ(hist["count"], 0u);
    EXPECT_EQ(hist["span"]["ambiguous"]["early"], 400u);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
