// SPDX-License-Identifier: GPL-3.0-or-later
// Spans that a program marks itself, with auger.h, compiled and linked in several ways.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

namespace auger::test {
namespace {

class LiveMarks : public LiveTest, public testing::WithParamInterface<const char*> {
  protected:
    Program program_{GetParam(), {"--calls", "400", "--wait", "--linger"}};
};

TEST_P(LiveMarks, AreSpansByOneWord) {
    program_.wait_ready();
    LiveAuger auger({"-p", std::to_string(program_.pid())});
    auger.run({"sample 999", "span auto", "time usdt:auger:touch",
               "only usdt:auger:touch if arg1 < 0 and str(arg2) == \"convert\"", "split step > p90",
               "slow handing > 1ns"});
    program_.go();
    const json account = program_.account();
    const std::string checkouts = account["checkouts"].dump(),
                      conversions = account["conversions"].dump();
    auger.run({"wait until calls checkout >= " + checkouts + " for 60s",
               "wait until calls convert >= " + conversions + " for 60s"});

    const json checkout = auger.ask("hist checkout");
    EXPECT_EQ(checkout["count"], account["checkouts"]);
    EXPECT_EQ(checkout["open"], 0);
    EXPECT_EQ(checkout["span"]["stray_ends"], 0);
    EXPECT_LE(checkout["max"], account["longest_around_ns"]);
    EXPECT_GT(checkout["span"]["times"]["parked"], 0);
    EXPECT_EQ(auger.ask("hist handing")["count"], account["checkouts"]);
    const json step = auger.ask("hist step"), convert = auger.ask("hist convert");
    // Those that were left by an exception, too.
    EXPECT_GT(account["thrown"], 0);
    EXPECT_EQ(step["count"], account["steps"]);
    EXPECT_EQ(convert["count"], account["conversions"]);
    for (const json& span : {step, convert}) {
        EXPECT_EQ(span["open"], 0);
        EXPECT_EQ(span["unwound"], 0);
        EXPECT_EQ(span["span"]["stray_ends"], 0);
    }
    EXPECT_EQ(auger.ask("hist usdt:auger:touch")["count"], account["negatives"]);
    // Values are made for who has attached.
    EXPECT_EQ(account["evaluations"], account["touches"]);

    const std::vector<json> calls = auger.all("calls handing");
    ASSERT_FALSE(calls.empty());
    for (const json& call : calls)
        EXPECT_GT(call["parked"], 0);
    const json slow = auger.ask("flame slow"), fast = auger.ask("flame fast");
    EXPECT_GT(cpu_ns_in(slow, "think_hard"), 0);
    EXPECT_EQ(cpu_ns_in(fast, "think_hard"), 0);
    program_.go();
    EXPECT_EQ(program_.wait_exit(), 0);
}

TEST_P(LiveMarks, NobodyWatches) {
    program_.wait_ready();
    program_.go();
    const json account = program_.account();
    EXPECT_GT(account["touches"], 0);
    EXPECT_EQ(account["evaluations"], 0);
    program_.go();
    EXPECT_EQ(program_.wait_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(Builds, LiveMarks,
                         testing::Values("marks", "marks_o0", "marks_o3", "marks_static",
                                         "marks_clang"),
                         [](const auto& test) { return std::string(test.param); });

} // namespace
} // namespace auger::test
