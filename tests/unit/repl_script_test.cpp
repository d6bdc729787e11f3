// SPDX-License-Identifier: GPL-3.0-or-later
// Scripts: stopping at failures, places, wait and assert in simulated time, source, hostile input.
#include "tests/unit/repl_fake_backend.h"

#include "repl/session/evaluate.h"
#include "views/model/function_match.h"

#include <gmock/gmock.h>

#include <fstream>
#include <random>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "auger_" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

TEST(ScriptRun, StopsAtTheFirstFailureAndSaysWhere) {
    TestSession test;
    const std::string said = test.run("echo 1\n  echo 2; splt x; echo 3\necho 4");
    EXPECT_THAT(said, HasSubstr("1\n2\n"));
    EXPECT_THAT(said, HasSubstr("test.aug:2:11: error: there is no command \"splt\"\n"
                                "      echo 2; splt x; echo 3\n"
                                "              ^~~~\n"
                                "  did you mean \"split\"?\n"));
    EXPECT_THAT(test.output.results, Not(HasSubstr("3")));
    EXPECT_EQ(test.failure, Error::Kind::usage);
}

TEST(ScriptRun, KeepsGoingWhenAsked) {
    SessionOptions options;
    options.keep_going = true;
    TestSession test(options);
    test.run("echo 1\nhist 9; echo 2\nnonsense\necho 3");
    EXPECT_EQ(test.output.results, "1\n2\n3\n");
    EXPECT_EQ(test.failure, Error::Kind::failed); // the first one decides
}

TEST(ScriptRun, QuitAndAClosedOutputEndIt) {
    TestSession test;
    test.run("echo 1; quit; echo 2\necho 3");
    EXPECT_EQ(test.output.results, "1\n");
    EXPECT_TRUE(test.session.quitting());
    TestSession closed;
    closed.output.is_open = false;
    closed.run("target 4711\ntarget 4712");
    EXPECT_THAT(closed.backend.log, ElementsAre("target 1"));
}

TEST(ScriptRun, StopSignalEndsIt) {
    TestSession test;
    test.interrupts.stop = true;
    test.run("echo 1\necho 2");
    EXPECT_EQ(test.output.results, "1\n");
}

TEST(Wait, TakesTheTimeAskedFor) {
    TestSession test;
    test.run("target 4711\ntime handle");
    const uint64_t before = test.backend.clock();
    EXPECT_EQ(test.run("wait 1.5s"), "waited 1.50 s\n");
    EXPECT_EQ(test.backend.clock() - before, 1'500'000'000u);
}

TEST(Wait, UntilSomethingHolds) {
    TestSession test;
    test.run("target 4711\nslow handle > 5ms");
    const uint64_t before = test.backend.clock();
    EXPECT_THAT(test.run("wait until calls handle >= 1000"),
                HasSubstr("calls handle >= 1000 (1,000)"));
    EXPECT_EQ(test.backend.clock() - before, 1'000'000'000u);
    test.run("wait until slow handle >= 100\nwait until samples > 500");
    EXPECT_EQ(test.failure, std::nullopt);
}

TEST(Wait, FailsBeyondItsLimit) {
    TestSession test;
    test.run("target 4711\ntime handle");
    const uint64_t before = test.backend.clock();
    EXPECT_THAT(test.run("wait until calls handle >= 100k for 3s"),
                HasSubstr("test.aug:1:12: error: \"calls handle >= 100k\" has not come true within "
                          "3s: it is 3,000\n"));
    EXPECT_EQ(test.backend.clock() - before, 3'000'000'000u);
    EXPECT_EQ(test.failure, Error::Kind::failed);
    EXPECT_THAT(test.run("wait until p99 other < 5ms for 1s"), HasSubstr("\"other\" is not timed"));
}

TEST(Wait, EndsWithTheTarget) {
    TestSession test;
    test.run("target 4711\ntime handle");
    test.backend.ends_at = test.backend.clock() + 500'000'000;
    EXPECT_THAT(test.run("wait until calls handle >= 1000"),
                HasSubstr("cannot come true any more: it is 500, and nothing more will come"));
    EXPECT_THAT(test.run("wait 5s"), HasSubstr("nothing more will come"));
    EXPECT_EQ(test.failure, std::nullopt);
    test.run("wait until exited\nassert exited");
    EXPECT_EQ(test.failure, std::nullopt);
}

TEST(Wait, CtrlCEndsIt) {
    TestSession test;
    test.run("target 4711");
    test.interrupts.interrupted = true;
    EXPECT_THAT(test.run("wait 1000s\necho not reached"), HasSubstr("error: interrupted"));
    EXPECT_LT(test.backend.clock(), 2'000'000'000u);
}

TEST(Wait, StartsACommand) {
    TestSession test;
    test.run("target -- ./x\ntime handle");
    EXPECT_FALSE(test.backend.command_started);
    test.run("wait 1s");
    EXPECT_TRUE(test.backend.command_started);
}

TEST(Batch, CommandRunsToItsEndUnlessTheScriptWaits) {
    SessionOptions options;
    options.batch = true;
    TestSession test(options);
    test.backend.ends_at = 3'000'000'000;
    test.run("target -- ./x\ntime handle");
    EXPECT_THAT(test.run("hist handle"), HasSubstr("2,000 calls"));

    TestSession waits(options);
    waits.backend.ends_at = 3'000'000'000;
    EXPECT_THAT(waits.run("target -- ./x\ntime handle\nwait 1s\nhist handle"),
                HasSubstr("1,000 calls"));
    ASSERT_TRUE(waits.session.finish());
    EXPECT_EQ(waits.backend.clock(), 2'000'000'000u); // the script decided how long

    TestSession looks_at_nothing(options);
    looks_at_nothing.backend.ends_at = 3'000'000'000;
    looks_at_nothing.run("target -- ./x\ntime handle");
    ASSERT_TRUE(looks_at_nothing.session.finish());
    EXPECT_EQ(looks_at_nothing.backend.clock(), 3'000'000'000u);
}

TEST(Assert, HoldsOrSaysWhatIs) {
    TestSession test;
    test.run("target 4711\nslow handle > 5ms\nsplit handle > 5ms\nsample\nwait 2s");
    for (const char* line : {"calls handle == 2000",
                             "count handle == 2000",
                             "entries handle == 2000",
                             "unwound handle == 0",
                             "open handle == 0",
                             "dropped handle == 0",
                             "slow handle == 100",
                             "min handle >= 0.99ms",
                             "max handle <= 10.1ms",
                             "mean handle < 2ms",
                             "p50 handle < 1.1ms",
                             "p99 handle > 9ms",
                             "samples == 400",
                             "samples slow == 300",
                             "share slow rebuild == 100%",
                             "share slow parse == 0%",
                             "share rebuild == 75%",
                             "diff rebuild > 2ms",
                             "lost == 0",
                             "lost 'samples: event ring full' == 0",
                             "rate > 900"}) {
        EXPECT_THAT(test.run(std::string("assert ") + line),
                    HasSubstr(std::string("holds: ") + line))
            << line;
    }
    EXPECT_THAT(test.run("assert p99 handle < 5ms"),
                HasSubstr("test.aug:1:8: error: \"p99 handle < 5ms\" does not hold: it is "));
    EXPECT_EQ(test.failure, Error::Kind::failed);
    EXPECT_THAT(test.run("assert share slow rebild > 5%"),
                HasSubstr("test.aug:1:19: error: no function \"rebild\" was sampled"));
    EXPECT_THAT(test.output.errors, HasSubstr("did you mean \"rebuild\"?"));
    EXPECT_THAT(test.run("assert lost nonsense == 0"), HasSubstr(lost_samples));
    EXPECT_THAT(test.run("time other; assert p99 other < 5ms"),
                HasSubstr("no call has returned yet"));
    EXPECT_THAT(test.run("unsplit; assert samples slow > 1"), HasSubstr("there is no split"));
}

TEST(Assert, FollowsTheWindow) {
    TestSession test;
    test.run("target 4711\ntime handle\nwait 5s\nwindow 1s");
    EXPECT_THAT(test.run("assert calls handle <= 1020"), HasSubstr("holds"));
    EXPECT_THAT(test.run("window all; assert calls handle == 5000"), HasSubstr("holds"));
}

TEST(NamesFunction, LeavesOutNamespacesTemplatesAndParameters) {
    EXPECT_TRUE(names_function("ns::Parser::parse(int, char)", "parse"));
    EXPECT_TRUE(names_function("ns::Parser::parse(int, char)", "Parser::parse"));
    EXPECT_TRUE(names_function("ns::Parser::parse(int, char)", "ns::Parser::parse(int,char)"));
    EXPECT_TRUE(names_function("std::vector<int, std::allocator<int> >::push_back(int&&)",
                               "vector::push_back"));
    EXPECT_TRUE(names_function("(anonymous namespace)::f(int)", "f"));
    EXPECT_TRUE(names_function("A::operator()(int)", "A::operator()"));
    EXPECT_FALSE(names_function("ns::reparse(int)", "parse"));
    EXPECT_FALSE(names_function("parse_all(int)", "parse"));
    EXPECT_FALSE(names_function("f(parse)", "parse"));
}

TEST(Source, RunsAFileWithItsOwnPlaces) {
    TestSession test;
    const std::string path = file("inner.aug", "\xEF\xBB\xBF"
                                               "echo in\r\nhist nothing");
    const std::string said = test.run("echo a; source " + path + "\necho b");
    EXPECT_EQ(test.output.results, "a\nin\n");
    EXPECT_THAT(said, HasSubstr(path + ":2:6: error: \"nothing\" is not timed"));
    EXPECT_THAT(said, HasSubstr("test.aug:1:9: error: " + path + " failed"));
    EXPECT_EQ(test.failure, Error::Kind::failed);
    EXPECT_THAT(test.run("source /no/such"), HasSubstr("No such file or directory"));
}

TEST(Source, ThatSourcesItselfEnds) {
    TestSession test;
    const std::string path = testing::TempDir() + "auger_self.aug";
    file("self.aug", "source " + path + "\n");
    EXPECT_THAT(test.run("source " + path), HasSubstr("files source each other"));
}

TEST(Hostile, BinaryScriptsFailWithAPlace) {
    TestSession test;
    EXPECT_THAT(test.run(std::string("\x7f"
                                     "ELF\x02\x01\0\0",
                                     8)),
                HasSubstr("test.aug:1:1: error: control character 0x7f"));
    EXPECT_EQ(test.failure, Error::Kind::usage);
}

TEST(Hostile, RandomScriptsNeitherCrashNorPrintControls) {
    SessionOptions options;
    options.keep_going = true;
    TestSession test(options);
    test.run("target 4711");
    std::mt19937 random(4711);
    const std::vector<std::string> pieces{"time ",   "slow ",   "split ",      "threshold ",
                                          "delete ", "undo",    "hist ",       "flame ",
                                          "calls ",  "handle ", "1 ",          "#2 ",
                                          "> ",      "p95 ",    "5ms ",        "off",
                                          "; ",      "\n",      "'",           "\"",
                                          "(",       ")",       "<",           "filter tid ",
                                          "window ", "10s ",    "wait until ", "wait ",
                                          "for 1s ", "assert ", "share ",      "slow",
                                          "echo ",   "\\",      "unsplit",     "top ",
                                          "diff ",   "status",  "probes",      "sample ",
                                          "\x1b",    "\xff",    "-n ",         "ns::f(int, char) "};
    for (int round = 0; round < 3000; ++round) {
        std::string script;
        for (size_t i = random() % 12; i > 0; --i) {
            if (random() % 40 == 0)
                script += static_cast<char>(random());
            else
                script += pieces[random() % pieces.size()];
        }
        if (script.find("until") != std::string::npos)
            script += " for 1s"; // what never comes true would wait for ever
        if (script.find("wait until") != std::string::npos &&
            script.find('\n') != std::string::npos)
            continue;
        const std::string said = test.run(script);
        for (const char c : said)
            ASSERT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f))
                << script;
        // Whatever was done, the settings name only probes that are there.
        const Settings& settings = test.session.settings();
        if (settings.split.active) {
            ASSERT_NE(settings.find(settings.split.probe), nullptr) << script;
        }
    }
}

} // namespace
} // namespace auger
