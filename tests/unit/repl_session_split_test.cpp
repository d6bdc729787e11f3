// SPDX-License-Identifier: GPL-3.0-or-later
// Splits, classes and `only`, set through the session.
#include "tests/unit/repl_fake_backend.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Session, SplitAddsTheProbeOrUsesItAndKeepsAttachments) {
    TestSession test;
    test.run("target 4711\nsplit handle > p95\nthreshold handle p99\nsplit #1 > 10ms so-far\n"
             "slow handle > 5ms\nslow 1 > p99\nunsplit");
    EXPECT_THAT(test.backend.log, ElementsAre("target 1", "add 1 handle", "split 1", "split 1",
                                              "split 1", "slow 1", "slow 1", "split off"));
    EXPECT_EQ(test.failure, std::nullopt);
}

TEST(Session, ThresholdMovesTheSplitElseTheSlowCalls) {
    TestSession test;
    test.run("target 4711\nslow handle > 5ms\nthreshold handle 7ms");
    EXPECT_EQ(test.session.settings().probes[0].slow.fixed_ns, 7'000'000u);
    EXPECT_THAT(test.run("split handle > p95\nthreshold handle p90"),
                HasSubstr("slow calls are still traced above 7ms"));
    EXPECT_EQ(test.session.settings().split.threshold.percentile, 90);
    EXPECT_EQ(test.session.settings().probes[0].slow.fixed_ns, 7'000'000u);
    test.run("time other");
    EXPECT_THAT(test.run("threshold other p90"),
                HasSubstr("test.aug:1:11: error: \"other\" is only timed"));
}

TEST(Session, ClassesNeedASplit) {
    TestSession test;
    for (const char* line :
         {"flame slow", "top fast", "save /nowhere.folded slow", "diff slow fast"}) {
        test.run(line);
        EXPECT_EQ(test.failure, Error::Kind::failed) << line;
        EXPECT_THAT(test.output.errors, HasSubstr("split")) << line;
    }
}

TEST(Session, PartsOfASplitCombine) {
    TestSession test;
    EXPECT_THAT(test.run("target 4711\nsplit at main.cc:12"),
                HasSubstr("test.aug:2:7: error: there is no split whose probe this could mean"));
    EXPECT_THAT(test.run("split handle > 5ms"), HasSubstr("split by handle (probe 1) > 5ms\n"));
    EXPECT_THAT(test.run("split at main.cc:12"),
                HasSubstr("split by handle (probe 1) > 5ms, taken or not at main.cc:12\n"));
    EXPECT_THAT(test.run("split handle by arg1"), HasSubstr("main.cc:12, by arg1\n"));
    EXPECT_THAT(test.run("split if arg2 > 4"),
                HasSubstr("> 5ms, taken or not if arg2 > 4, by arg1\n"));
    EXPECT_EQ(test.session.summary(), "se\\x1brver 4711 handle ...ms if arg2 > 4 by arg1");
    const SplitSetting before = test.session.settings().split;
    EXPECT_THAT(test.run("split other by arg0"), HasSubstr("split by other (probe 2), by arg0\n"));
    test.run("undo");
    EXPECT_EQ(test.session.settings().split, before);
    test.run("unsplit");
    EXPECT_FALSE(test.session.settings().split.active);
}

TEST(Session, CombinedClassesAreShownAndCompared) {
    TestSession test;
    test.run("target 4711\nsample\nslow handle > 5ms\nsplit handle > 5ms at main.cc:12 by arg1\n"
             "wait 2s");
    EXPECT_EQ(test.failure, std::nullopt);
    const std::string flame = test.run("flame");
    EXPECT_THAT(flame, HasSubstr("split handle > 5.00 ms at main.cc:12 by arg1\n"));
    EXPECT_THAT(flame, HasSubstr("at main.cc:12: taken in 100 of 2,000 calls\n"));
    EXPECT_THAT(flame, HasSubstr("slow+taken 300 (75.0 %) in 100 calls"));
    EXPECT_THAT(flame, HasSubstr("fast+not-taken 100 (25.0 %) in 100 calls"));
    EXPECT_THAT(flame, HasSubstr("=big (large) 300 (75.0 %) in 100 calls"));
    EXPECT_THAT(test.run("flame taken"), HasSubstr("rebuild"));
    EXPECT_THAT(test.run("flame not-taken"), Not(HasSubstr("rebuild")));
    EXPECT_THAT(test.run("flame slow+not-taken"), HasSubstr("No samples"));
    EXPECT_THAT(test.run("top =small"), Not(HasSubstr("rebuild")));
    EXPECT_THAT(test.run("top =large"), HasSubstr("rebuild")); // of "big (large)"
    EXPECT_THAT(test.run("diff taken not-taken"), HasSubstr("rebuild"));
    EXPECT_THAT(test.output.results, HasSubstr("not-taken  1,900 calls, 100 of them sampled"));
    EXPECT_THAT(test.run("calls slow+taken"), HasSubstr("fd=17 (tcp) req=(unreadable: page not"));
    EXPECT_THAT(test.output.results, HasSubstr("slow+taken+=big (large)"));
    EXPECT_THAT(test.run("calls not-taken"), HasSubstr("No such slow call"));
    EXPECT_THAT(test.run("status"), HasSubstr("classes     at main.cc:12: taken in 100 of 2,000"));
    test.run(
        "assert taken handle == 100\nassert not-taken handle == 1900\n"
        "assert samples slow+taken == 300\nassert samples =small == 100\n"
        "assert share slow+taken rebuild > 99%\nassert gated == 0\nassert filtered handle == 0");
    EXPECT_EQ(test.failure, std::nullopt) << test.output.errors;
    // What the split lacks is said.
    test.run("split other > p95");
    EXPECT_THAT(test.run("flame taken"), HasSubstr("the split has no branch"));
    EXPECT_THAT(test.run("assert taken handle == 1"), HasSubstr("no branch"));
    test.run("split other2 at main.cc:12");
    EXPECT_THAT(test.run("flame slow"), HasSubstr("the split has no threshold"));
    EXPECT_THAT(test.run("flame"), HasSubstr("inside 0 (0.0 %)   outside"));
}

TEST(Session, OnlyIsSetShownAndUndone) {
    TestSession test;
    EXPECT_THAT(test.run("target 4711\nonly"), HasSubstr("everything is kept\n"));
    test.backend.log.clear();
    EXPECT_THAT(test.run("only handle > p95 and not (comm x)"),
                testing::StartsWith("only handle > p95 and not (comm x)\n"));
    EXPECT_THAT(test.backend.log,
                ElementsAre("add 1 handle", "only handle > p95 and not (comm x)"));
    EXPECT_EQ(test.session.settings().only.gate.terms[0].probe, ProbeId{1});
    EXPECT_THAT(test.run("only in a or in b"), HasSubstr("only in a or in b\n"));
    EXPECT_EQ(test.session.settings().only.gate.terms[0].probe, ProbeId{2});
    EXPECT_EQ(test.session.settings().only.gate.terms[1].probe, ProbeId{3});
    EXPECT_THAT(test.run("status"), HasSubstr("only        in a or in b\n"));
    EXPECT_THAT(test.run("flame"), HasSubstr("only in a or in b\n"));
    test.backend.log.clear();
    EXPECT_EQ(test.run("undo"), "undid \"only in a or in b\"\n");
    EXPECT_THAT(test.backend.log,
                ElementsAre("only handle > p95 and not (comm x)", "remove 2", "remove 3"));
    EXPECT_EQ(test.run("only off"), "everything is kept\n");
    EXPECT_EQ(test.run("only off"), "there was no `only`\n");
}

TEST(Session, OnlyOfAProbeIsACondition) {
    TestSession test;
    test.run("target 4711\nslow recv > 1ms if ret < 0");
    EXPECT_THAT(test.run("only recv if arg2 > 4096"),
                HasSubstr("only calls of recv (probe 1) count if arg2 > 4096\n"));
    EXPECT_EQ(test.session.settings().probes[0].conditions.slow_if, "ret < 0");
    EXPECT_THAT(test.run("only"), HasSubstr("only recv if arg2 > 4096\n"));
    EXPECT_THAT(test.run("probes"), HasSubstr("only if arg2 > 4096"));
    EXPECT_THAT(test.run("threshold recv 2ms"), HasSubstr("> 2ms"));
    EXPECT_EQ(test.session.settings().probes[0].conditions.slow_if, "ret < 0");
    EXPECT_THAT(test.run("only recv if off"), HasSubstr("every call of recv (probe 1) counts\n"));
    EXPECT_EQ(test.session.settings().probes[0].conditions.only_if, "");
    EXPECT_THAT(test.run("only nothing if off"), HasSubstr("1:6: error: \"nothing\" is not timed"));
}

TEST(Session, DeletingAProbeEndsTheOnlyThatNeedsIt) {
    TestSession test;
    test.run("target 4711\nonly in a and comm x");
    test.backend.log.clear();
    EXPECT_THAT(test.run("delete a"), HasSubstr("`only`, which needs it, has ended"));
    EXPECT_THAT(test.backend.log, ElementsAre("only ", "remove 1"));
    test.backend.log.clear();
    EXPECT_THAT(test.run("undo"), HasSubstr("a is probe 2 now"));
    EXPECT_THAT(test.backend.log, ElementsAre("add 2 a", "only in a and comm x"));
    EXPECT_EQ(test.session.settings().only.gate.terms[0].probe, ProbeId{2});
}

TEST(Session, LinesOfOnlyFilterViews) {
    TestSession test;
    test.run("target 4711\nsample\nslow handle > 5ms\nonly not at main.cc:12\nwait 2s");
    const std::string flame = test.run("flame");
    EXPECT_THAT(flame, Not(HasSubstr("rebuild")));
    EXPECT_THAT(flame, HasSubstr("300 samples are left out by `only`"));
    EXPECT_THAT(test.run("calls"), HasSubstr("100 slow calls are left out by `only`."));
    EXPECT_THAT(test.run("status"), HasSubstr("left out of views: 300 samples, 100 slow calls"));
    EXPECT_THAT(test.run("assert samples == 100"), HasSubstr("holds"));
    test.run("only off");
    EXPECT_THAT(test.run("flame"), HasSubstr("rebuild"));
}

} // namespace
} // namespace auger
