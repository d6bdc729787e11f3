// SPDX-License-Identifier: GPL-3.0-or-later
// Spans that a program marks itself: with auger.h, compiled and linked in several ways, and in
// Python with auger.py.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <filesystem>

namespace auger::test {
namespace {

// What the program has marked, by its own account: `other` is the span that it has besides, which
// was so often.
void expect_marked_spans(LiveAuger& auger, const json& account, const std::string& other,
                         const json& times) {
    const json checkout = auger.ask("hist checkout");
    EXPECT_EQ(checkout["count"], account["checkouts"]);
    EXPECT_LE(checkout["max"], account["longest_around_ns"]);
    EXPECT_GT(checkout["span"]["times"]["parked"], 0);
    EXPECT_EQ(auger.ask("hist handing")["count"], account["checkouts"]);
    // Those that were left by an exception, too.
    EXPECT_GT(account["thrown"], 0);
    EXPECT_EQ(auger.ask("hist step")["count"], account["steps"]);
    EXPECT_EQ(auger.ask("hist " + other)["count"], times);
    for (const std::string& name :
         {std::string("checkout"), std::string("handing"), std::string("step"), other}) {
        const json span = auger.ask("hist " + name);
        EXPECT_EQ(span["open"], 0) << name;
        EXPECT_EQ(span["unwound"], 0) << name;
        EXPECT_EQ(span["span"]["stray_ends"], 0) << name;
    }
    EXPECT_EQ(auger.ask("hist usdt:auger:touch")["count"], account["negatives"]);

    const std::vector<json> calls = auger.all("calls handing");
    ASSERT_FALSE(calls.empty());
    for (const json& call : calls)
        EXPECT_GT(call["parked"], 0);
    const json slow = auger.ask("flame slow"), fast = auger.ask("flame fast");
    EXPECT_GT(cpu_ns_in(slow, "think_hard"), 0);
    EXPECT_EQ(cpu_ns_in(fast, "think_hard"), 0);
}

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

    expect_marked_spans(auger, account, "convert", account["conversions"]);
    // Values are made for who has attached.
    EXPECT_EQ(account["evaluations"], account["touches"]);
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

class LivePythonMarks : public LiveTest {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!std::filesystem::exists("/usr/bin/python3"))
            GTEST_SKIP() << "python3 is not installed";
    }
};

TEST_F(LivePythonMarks, AreSpansByOneWord) {
    Program program("/usr/bin/python3",
                    {AUGER_SOURCE_DIR "/tests/programs/marks.py", folder_.path("marks")});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    // A difficult step takes 5 ms of CPU time.
    auger.run({"sample 999", "span auto", "time usdt:auger:touch",
               "only usdt:auger:touch if arg1 < 0 and str(arg2) == \"convert\"", "split step > 4ms",
               "slow handing > 1ns"});
    program.go();
    const json account = program.account();
    ASSERT_EQ(account["problem"], nullptr);
    auger.run({"wait until calls checkout >= " + account["checkouts"].dump() + " for 60s",
               "wait until calls handle >= " + account["handled"].dump() + " for 60s"});

    expect_marked_spans(auger, account, "handle", account["handled"]);
    // All of them waited at once, one thread's work.
    EXPECT_GT(auger.ask("hist handle")["span"]["times"]["parked"],
              900'000 * account["handled"].get<double>());
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// What one process has written is the same file in the next: so it is attached to once, and names
// the spans of both.
TEST_F(LivePythonMarks, OfSeveralProcessesAreOneSpan) {
    const std::vector<std::string> arguments{AUGER_SOURCE_DIR "/tests/programs/marks.py",
                                             folder_.path("marks")};
    Program one("/usr/bin/python3", arguments), other("/usr/bin/python3", arguments);
    one.wait_ready();
    other.wait_ready();
    LiveAuger auger({"-p", std::to_string(one.pid()) + "," + std::to_string(other.pid())});
    auger.run({"span auto"});
    one.go();
    other.go();
    const uint64_t checkouts =
        one.account()["checkouts"].get<uint64_t>() + other.account()["checkouts"].get<uint64_t>();
    auger.run({"wait until calls checkout >= " + std::to_string(checkouts) + " for 60s"});
    // Ids are a process's own.
    const json checkout = auger.ask("hist checkout");
    EXPECT_EQ(checkout["count"], checkouts);
    EXPECT_EQ(checkout["unwound"], 0);
    EXPECT_EQ(checkout["span"]["stray_ends"], 0);
    const json listed = auger.ask("probes usdt auger:touch");
    ASSERT_EQ(listed["usdt"].size(), 1u) << listed;
    EXPECT_EQ(listed["usdt"][0]["sites"], 1);
    for (Program* program : {&one, &other}) {
        program->go();
        EXPECT_EQ(program->wait_exit(), 0);
    }
}

} // namespace
} // namespace auger::test
