// SPDX-License-Identifier: GPL-3.0-or-later
// What a failed command takes back, and what `undo` does.
#include "tests/support/temporary_folder.h"
#include "tests/unit/repl_fake_backend.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Session, FailedEditLeavesEverythingAsItWas) {
    TestSession test;
    test.run("target 4711\ntime a");
    const Settings before = test.session.settings();
    test.backend.log.clear();
    test.backend.failing = {"split"};
    const std::string said = test.run("split b > p95");
    EXPECT_THAT(said, HasSubstr("test.aug:1:7: error: split it: refused\n"));
    EXPECT_THAT(said, HasSubstr("  try later\n"));
    EXPECT_THAT(test.backend.log, ElementsAre("add 2 b", "split 2", "remove 2"));
    EXPECT_EQ(test.session.settings(), before);
    // Nothing to undo but what was done before, and no id twice.
    test.backend.failing.clear();
    test.run("time b");
    EXPECT_EQ(test.session.settings().probes[1].id, ProbeId{3});
}

TEST(Session, FailedReversalIsSaid) {
    TestSession test;
    test.run("target 4711");
    test.backend.failing = {"split", "remove"};
    EXPECT_THAT(test.run("split b > p95"),
                HasSubstr("try later; and going back failed: remove it"));
}

TEST(Session, DeletingSeveralIsUndoneWhenOneFails) {
    TestSession test;
    test.run("target 4711\ntime a\ntime b\nsplit a > p95");
    test.backend.log.clear();
    test.backend.failing = {"remove"};
    test.run("delete a b");
    EXPECT_THAT(test.backend.log, ElementsAre("split off", "remove 1", "split 1"));
    EXPECT_EQ(test.session.settings().probes.size(), 2u);
    EXPECT_TRUE(test.session.settings().split.active);
}

TEST(Session, ReversalGoesBackwardsAndFollowsNewNumbers) {
    TestSession test;
    test.run("target 4711\ntime a\ntime b\nsplit a > p95");
    test.backend.log.clear();
    test.backend.failing = {"remove 2"};
    test.run("delete a b");
    EXPECT_THAT(test.backend.log,
                ElementsAre("split off", "remove 1", "remove 2", "add 3 a", "split 3"));
    EXPECT_EQ(test.session.settings().split.probe, ProbeId{3});
    EXPECT_NE(test.session.settings().find(ProbeId{3}), nullptr);
    EXPECT_EQ(test.session.settings().find(ProbeId{1}), nullptr);
}

TEST(Session, UndoGoesBackOneEditAtATime) {
    TestSession test;
    EXPECT_THAT(test.run("undo"), HasSubstr("there is nothing to undo"));
    const Settings nothing = test.session.settings();
    test.run("target 4711\nsample 999\ntime a\nsplit a > p95\nthreshold a p99\nfilter tid "
             "5\nwindow 10s\nexit ret");
    EXPECT_EQ(test.run("undo"), "undid \"exit ret\"\n");
    EXPECT_EQ(test.run("undo"), "undid \"window 10s\"\n");
    EXPECT_EQ(test.run("echo 1; undo"), "1\nundid \"filter tid 5\"\n");
    EXPECT_EQ(test.run("undo"), "undid \"threshold a p99\"\n");
    EXPECT_EQ(test.session.settings().split.threshold.percentile, 95);
    test.backend.log.clear();
    EXPECT_EQ(test.run("undo"), "undid \"split a > p95\"\n");
    EXPECT_EQ(test.run("undo"), "undid \"time a\"\n");
    EXPECT_THAT(test.backend.log, ElementsAre("split off", "remove 1"));
    test.run("undo\nundo");
    EXPECT_EQ(test.session.settings(), nothing);
    EXPECT_THAT(test.run("undo"), HasSubstr("nothing to undo"));
}

// What streamed stays ended, since it would be overwritten; intervals begin again.
TEST(Session, UndoOfRecordOff) {
    test::TemporaryFolder folder;
    TestSession test;
    test.run("target 4711\nrecord " + folder.path("profiles") + " every 10s\nwindow 10s");
    test.run("record off");
    EXPECT_EQ(test.run("undo"), "undid \"record off\"\n");
    test.run("record " + folder.path("a.auger"));
    test.run("record off");
    EXPECT_EQ(test.run("undo"), "undid \"record off\"\n") << "it has ended the intervals";
    EXPECT_EQ(test.session.settings().recording, "");
    EXPECT_EQ(test.session.settings().intervals.folder, folder.path("profiles"));
}

// Its processes have ended: what was before the change of target can be had all the same.
TEST(Session, UndoGoesOnWhereATargetIsGone) {
    TestSession test;
    test.run("target -n old\nsample 99\nwindow 10s\ntarget 4712");
    test.backend.failing = {"target 2"}; // by name
    const std::string said = test.run("undo");
    EXPECT_EQ(test.failure, std::nullopt) << said;
    EXPECT_THAT(said, HasSubstr("undid \"target 4712\"; the target stays: "));
    EXPECT_THAT(test.run("undo"), HasSubstr("undid \"window 10s\"; the target stays: "));
    test.run("undo");
    EXPECT_EQ(test.session.settings().sampling.rate_hz, 0u);
    EXPECT_EQ(test.session.settings().target.pids, std::vector<pid_t>{4712});
}

TEST(Session, UndoOfDeleteBringsTheProbeBackUnderAnotherNumber) {
    TestSession test;
    test.run("target 4711\ntime a\nsplit a > p95\ndelete a");
    EXPECT_FALSE(test.session.settings().split.active);
    EXPECT_EQ(test.run("undo"), "undid \"delete a\"; a is probe 2 now\n");
    EXPECT_EQ(test.session.settings().split.probe, ProbeId{2});
    test.backend.log.clear();
    // Earlier edits know the probe under its new number.
    EXPECT_EQ(test.run("undo"), "undid \"split a > p95\"\n");
    EXPECT_EQ(test.run("undo"), "undid \"time a\"\n");
    EXPECT_THAT(test.backend.log, ElementsAre("split off", "remove 2"));
}

TEST(Session, UndoNeverOverwritesARecording) {
    TestSession test;
    test.run("target 4711\nrecord a\nwindow 10s\nrecord off");
    test.backend.log.clear();
    EXPECT_EQ(test.run("undo"), "undid \"window 10s\"\n");
    EXPECT_THAT(test.backend.log, IsEmpty());
    test.run("undo");
    EXPECT_THAT(test.backend.log, IsEmpty());
}

TEST(Session, FailedUndoCanBeTriedAgain) {
    TestSession test;
    test.run("target 4711\nsample 99");
    test.backend.failing = {"sample"};
    EXPECT_THAT(test.run("undo"), HasSubstr("refused"));
    test.backend.failing.clear();
    EXPECT_EQ(test.run("undo"), "undid \"sample 99\"\n");
}

} // namespace
} // namespace auger
