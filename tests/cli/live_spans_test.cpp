// SPDX-License-Identifier: GPL-3.0-or-later
// Spans, on a program that opens, works for and closes requests on several threads, and counts
// them.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/kernel/source_lines.h"

#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

constexpr const char* definition =
    "span request from open_request if ret != 0 key ret to close_request key arg0 "
    "resume work_on key arg0 park put_aside";

class LiveSpans : public LiveTest {
  protected:
    // All that the program did is known to auger.
    json see_all(LiveAuger& auger) {
        program_.go();
        json account = program_.account();
        auger.run({"wait until calls request >= " + account["closed"].dump() + " for 60s"});
        return account;
    }

    Program program_{"requests", {"--calls", "400", "--forget", "3", "--wait", "--linger"}};
};

TEST_F(LiveSpans, AreCountedSplitListedAndRecorded) {
    program_.wait_ready();
    const std::string recording = folder_.path("spans.auger"), saved = folder_.path("spans.aug"),
                      again_saved = folder_.path("again.aug");
    json before;
    {
        LiveAuger auger({"-p", std::to_string(program_.pid()), "--record", recording});
        auger.run({"sample wall 999", definition, "slow request > 1ns",
                   "split request > p90 at " + marked_line("requests.c", "BRANCH difficult")});
        const json account = see_all(auger);
        const json hist = auger.ask("hist request");
        EXPECT_EQ(hist["count"], account["closed"]);
        EXPECT_EQ(hist["open"], account["forgotten"]);
        EXPECT_EQ(hist["span"]["stray_ends"], 0u);
        EXPECT_LE(hist["max"], account["longest_around_ns"]);
        const json of_span = auger.ask("status")["spans"][0];
        EXPECT_EQ(of_span["probe"], "request");
        EXPECT_EQ(of_span["begins"], account["opened"]);
        EXPECT_EQ(of_span["ended"], account["closed"]);
        EXPECT_EQ(of_span["open"], account["forgotten"]);
        EXPECT_EQ(of_span["adds_up"], true);
        const json& times = hist["span"]["times"];
        EXPECT_GT(times["parked"], times["served"]);
        // A thread resumes a span and parks it itself, so its waits are watched. But the one that
        // it has opened last is its own until it resumes another one: where it has no CPU just
        // then, another thread may take that up, and then nobody knows what its opener did
        // meanwhile. Of 64 that are open that is one at a time.
        EXPECT_LE(times["watched"], times["served"]);
        EXPECT_GE(times["watched"], 0.5 * times["served"].get<double>());
        auger.run({"assert open request == 3"});
        const std::vector<json> open = auger.all("open request");
        ASSERT_EQ(open.size(), 3u);
        EXPECT_THAT(open[0]["wait"].get<std::string>(), HasSubstr("key 0x"));
        const std::vector<json> calls = auger.all("calls request");
        ASSERT_FALSE(calls.empty());
        for (const json& call : calls)
            EXPECT_GT(call["parked"], 0u);
        const json taken = auger.ask("flame taken"), plain = auger.ask("flame not-taken");
        EXPECT_GT(cpu_ns_in(taken, "think_hard"), 0);
        EXPECT_EQ(cpu_ns_in(plain, "think_hard"), 0);
        EXPECT_GT(cpu_ns_in(plain, "think"), 0);
        auger.run(
            {"assert taken request == " + account["difficult"].dump(), "assert samples slow > 0"});
        std::string points;
        for (const json& probe : auger.all("probes"))
            points += probe.dump();
        for (const char* point :
             {"from open_request", "to close_request", "resume work_on", "park put_aside"})
            EXPECT_THAT(points, HasSubstr(point));
        auger.run({"save " + saved, "only in request", "only request > 5ms", "only off"});
        EXPECT_THAT(text_of(saved), HasSubstr(definition));
        before = auger.ask("hist request");
        auger.run({"record off"});
    }
    const Outcome replayed = auger(
        {"--batch", "--json", "--replay", recording, "-e", "hist request; save " + again_saved});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    json again = answer_to("hist", replayed.out);
    for (const char* field : {"count", "open", "span", "max", "p95"})
        EXPECT_EQ(again[field], before[field]) << field;
    EXPECT_THAT(text_of(again_saved), HasSubstr(definition));
    program_.go();
    EXPECT_EQ(program_.wait_exit(), 0);
}

TEST_F(LiveSpans, ThatCannotBeAreRefusedWithThePlace) {
    program_.wait_ready();
    const auto refused = [&](const std::string& commands) {
        const Outcome outcome =
            auger({"--batch", "-p", std::to_string(program_.pid()), "-e", commands});
        EXPECT_EQ(outcome.code, 1) << outcome.out;
        return outcome.err;
    };
    EXPECT_THAT(refused("span auto"),
                HasSubstr("no program of the target is one that spans are known of"));
    EXPECT_THAT(refused(definition + std::string("; split request if arg0 > 1")),
                HasSubstr("a span has no arguments"));
    const std::string nowhere = "span request from open_request to nowhere";
    EXPECT_THAT(refused(nowhere),
                HasSubstr("    " + nowhere + "\n" +
                          std::string(4 + nowhere.size() - std::string("nowhere").size(), ' ') +
                          "^~~~~~~\n"));
}

} // namespace
} // namespace auger::test
