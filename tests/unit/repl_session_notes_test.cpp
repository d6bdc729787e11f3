// SPDX-License-Identifier: GPL-3.0-or-later
// What the session says of settings that hide something, where it is missed.
#include "tests/unit/repl_fake_backend.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

// Nothing is attached for it, so nothing will come.
TEST(Session, WhatIsAskedOfAProbeThatIsOffIsNoted) {
    TestSession test;
    test.run("target 4711; time a; time b; time a off");
    for (const char* line : {"slow a > 5ms", "split a > p95", "split if arg0 > 1", "only in a",
                             "sample 99 only in a", "on slow a > 5ms record last 10s"})
        EXPECT_THAT(test.run(line), HasSubstr("a is off, so it has no calls: \"time a\" attaches"))
            << line;
    EXPECT_THAT(test.run("slow b > 5ms"), Not(HasSubstr("is off")));
    EXPECT_THAT(test.run("time a"), Not(HasSubstr("is off")));
}

// What is not counted is no view's, so all say so.
TEST(Session, AFilterIsShownWhereItHides) {
    TestSession test;
    test.run("target 4711; sample 99; filter tid 5");
    for (const char* line : {"flame", "top", "threads", "status"})
        EXPECT_THAT(test.run(line), testing::ContainsRegex("filter +tid 5")) << line;
    EXPECT_EQ(test.session.screen_state().filter, "tid 5");
    test.run("filter off");
    for (const char* line : {"flame", "status"})
        EXPECT_THAT(test.run(line), Not(HasSubstr("tid 5"))) << line;
    EXPECT_EQ(test.session.screen_state().filter, "");
}

// A file for each of several hosts, by names of which the command has only a part.
TEST(Session, WhereHostsAreRecordedIsTold) {
    TestSession test;
    test.backend.observed_hosts.resize(1);
    test.backend.observed_hosts[0].name = "relay";
    test.backend.observed_hosts.push_back(test.backend.observed_hosts[0]);
    test.backend.observed_hosts[1].name = "relay/web1";
    test.run("target 4711");
    EXPECT_EQ(test.run("record d.v/slow.auger"), "recording to d.v/slow.auger\n");
    test.backend.observed_hosts.push_back(test.backend.observed_hosts[0]);
    test.backend.observed_hosts.back().name = "db1";
    EXPECT_EQ(test.run("record"), "recording each of 2 hosts to d.v/slow-HOST.auger\n");
    EXPECT_EQ(test.run("record other"), "recording each of 2 hosts to other-HOST\n");
}

} // namespace
} // namespace auger
