// SPDX-License-Identifier: GPL-3.0-or-later
// explain: what it makes of the settings, what it picks, and what it says.
#include "tests/unit/repl_fake_backend.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace auger {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(ExplainCommand, TimesWhatItNeedsAndUndoesAllAtOnce) {
    TestSession test;
    test.run("target 4711");
    const std::string answer = test.run("explain handle by parse, lookup");
    EXPECT_THAT(answer, HasSubstr("explaining handle by parse, lookup"));
    EXPECT_THAT(answer, HasSubstr("ask again after some 200 calls"));
    EXPECT_THAT(test.backend.log, Contains("explain 1 by 2 3"));
    EXPECT_EQ(test.session.settings().probes.size(), 3u);
    EXPECT_THAT(test.run("explain"), HasSubstr("No call of it was told with its parts."));
    test.run("undo");
    EXPECT_EQ(test.session.settings().probes.size(), 0u);
    EXPECT_FALSE(test.session.settings().explain.active);
    EXPECT_THAT(test.backend.log, Contains("explain off"));
}

// A fake's handle spends its slow calls in `rebuild`, the others in `ns::parse(int)`.
TEST(ExplainCommand, PicksFromSamplesWhereNothingIsTimed) {
    TestSession test;
    test.run("target 4711; sample 99; time handle; wait 1s");
    const std::string answer = test.run("explain handle");
    EXPECT_THAT(answer, HasSubstr("samples, and timed: rebuild"));
    EXPECT_NE(test.session.settings().find("rebuild"), nullptr);
    test.run("undo");
    EXPECT_EQ(test.session.settings().probes.size(), 1u) << "what was picked goes, too";
    // What is timed by then is not picked again.
    test.run("time rebuild; time 'ns::parse(int)'");
    EXPECT_THAT(test.run("explain handle"), Not(HasSubstr("picked")));
    EXPECT_THAT(test.run("explain handle auto"), HasSubstr("no further function"));
}

TEST(ExplainCommand, WhatCannotBeTimedIsNotPicked) {
    TestSession test;
    test.run("target 4711; sample 99; time handle; wait 1s");
    test.backend.failing = {"add 2 rebuild"};
    const std::string answer = test.run("explain handle");
    EXPECT_EQ(test.failure, std::nullopt);
    EXPECT_THAT(answer, HasSubstr("left out: add"));
    EXPECT_EQ(test.session.settings().find("rebuild"), nullptr);
    EXPECT_TRUE(test.session.settings().explain.active);
}

// Names come from a target's files. None of these may become another probe than that function's.
TEST(ExplainCommand, NamesThatMeanSomethingElseAreNotPicked) {
    for (const char* name :
         {"tracepoint:raw_syscalls:sys_enter", "syscall:futex", "usdt:libc:libc:setjmp",
          "libc:malloc", "/usr/lib/libc.so.6:malloc", "*alloc*", "malloc@*", "malloc@main.cc:1",
          "main.cc:12", "0x401136", "malloc+0x10", "kernel:tcp_sendmsg", "m[a-z]lloc"}) {
        SCOPED_TRACE(name);
        TestSession test;
        test.backend.slow_callee = name;
        test.run("target 4711; sample 99; time handle; wait 1s");
        EXPECT_THAT(test.run("explain handle"), HasSubstr("whose name means something else"));
        EXPECT_EQ(test.failure, std::nullopt);
        EXPECT_EQ(test.session.settings().probes.size(), 1u);
    }
}

// Twenty calls every 20 ms are too few for that; a million are not.
TEST(ExplainCommand, WhatIsCalledTooOftenIsTakenOffAgain) {
    TestSession test;
    test.run("target 4711; sample 99; time handle; wait 1s");
    test.backend.calls_a_round = 1'000;
    const std::string answer = test.run("explain handle");
    EXPECT_THAT(answer, HasSubstr("left out: rebuild: called 50,000 times a second"));
    EXPECT_EQ(test.session.settings().find("rebuild"), nullptr);
}

TEST(ExplainCommand, SaysWhatIsMissing) {
    TestSession test;
    EXPECT_THAT(test.run("explain"), HasSubstr("nothing is explained so far"));
    test.run("target 4711");
    EXPECT_THAT(test.run("explain handle"), HasSubstr("0 samples in calls of it are too few"));
    EXPECT_THAT(test.run("explain handle by handle"), HasSubstr("cannot be a part of itself"));
    test.backend.failing = {"add"};
    test.backend.failing_subject = "lookup";
    EXPECT_THAT(test.run("explain handle by parse,lookup"),
                HasSubstr("test.aug:1:25: error: add lookup: refused"));
    EXPECT_EQ(test.session.settings().probes.size(), 1u);
}

TEST(ExplainCommand, EndsWithItsProbeOrItsLastPart) {
    TestSession test;
    test.run("target 4711; explain handle by parse, lookup");
    EXPECT_THAT(test.run("delete parse"), Not(HasSubstr("no longer")));
    EXPECT_THAT(test.run("delete lookup"), HasSubstr("no longer told with their parts"));
    EXPECT_FALSE(test.session.settings().explain.active);
    test.run("explain handle");
    EXPECT_THAT(test.run("delete handle"), HasSubstr("no longer told with their parts"));
    EXPECT_THAT(test.run("explain off"), HasSubstr("nothing was explained"));
}

TEST(ExplainCommand, AttachesWhatIsOff) {
    TestSession test;
    test.run("target 4711; time handle; time parse; time handle off; time parse off");
    test.run("explain handle by parse");
    EXPECT_THAT(test.backend.log, Contains("attach 1"));
    EXPECT_THAT(test.backend.log, Contains("attach 2"));
    test.run("time handle off");
    EXPECT_THAT(test.run("explain"), HasSubstr("handle is off, so no more calls come"));
    EXPECT_TRUE(test.session.settings().find("handle")->off);
}

// What is to be explained of a command is said before it runs.
TEST(ExplainCommand, DoesNotLetACommandRun) {
    SessionOptions options;
    options.batch = true;
    TestSession test(options);
    test.run("target -- ./server; explain handle; explain handle by parse");
    EXPECT_EQ(test.failure, std::nullopt);
    EXPECT_FALSE(test.backend.command_started);
    EXPECT_THAT(test.backend.log, Contains("explain 1 by 2"));
}

TEST(ExplainCommand, OfARecordingShowsWhatIsInIt) {
    TestSession test;
    test.run("target 4711; time handle; wait 1s");
    test.backend.is_replay = true;
    EXPECT_THAT(test.run("explain"), HasSubstr("record while \"explain PROBE\" is in force"));
    EXPECT_THAT(test.run("explain handle"),
                HasSubstr("record while \"explain handle\" is in force"));
    CallPartsEvent event;
    event.end.time_ns = test.backend.now_ns();
    event.end.duration_ns = 1000;
    event.end.call.spec = test.model.find_probe(ProbeId{1})->specs.front();
    test.model.on_call_parts(event);
    for (const char* line : {"explain", "explain handle"})
        EXPECT_THAT(test.run(line), HasSubstr("the rest of handle"));
    EXPECT_THAT(test.run("explain handle auto"), HasSubstr("the parts that they were recorded"));
}

TEST(ExplainCommand, AsJson) {
    TestSession test(as_json());
    test.run("target 4711");
    const auto begun = nlohmann::json::parse(test.run("explain handle by parse"));
    EXPECT_EQ(begun["by"], nlohmann::json({"parse"}));
    const auto table = nlohmann::json::parse(test.run("explain"));
    EXPECT_EQ(table["probe"], "handle");
    EXPECT_EQ(table["calls"], 0);
}

} // namespace
} // namespace auger
