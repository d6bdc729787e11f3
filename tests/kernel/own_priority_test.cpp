// SPDX-License-Identifier: GPL-3.0-or-later
// When the thread that takes events in is put before others, and when no longer.
#include "loader/kernel/own_priority.h"
#include "tests/support/durations.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace auger {
namespace {

using Change = OwnPriority::Change;

TEST(OwnPriority, IsRaisedOnlyWhenEventsAreLostForWantOfACpu) {
    OwnPriority priority;
    EXPECT_EQ(priority.judge(1'000 * ms, 900 * ms, 5), Change::none);   // before it looked
    EXPECT_EQ(priority.judge(1'100 * ms, 1'000 * ms, 9), Change::none); // too short
    EXPECT_EQ(priority.judge(1'500 * ms, 1'300 * ms, 5), Change::none); // nothing lost
    // Lost while it had the CPU: it is too slow, and others would not help.
    EXPECT_EQ(priority.judge(2'000 * ms, 1'400 * ms, 105), Change::none);
    EXPECT_EQ(priority.judge(2'500 * ms, 1'800 * ms, 106), Change::raise);
}

TEST(OwnPriority, IsForOneThreadAndNothingThatItStarts) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root";
    const int usual = getpriority(PRIO_PROCESS, 0);
    std::thread([usual] {
        OwnPriority priority;
        EXPECT_EQ(priority.raise(), true);
        EXPECT_EQ(getpriority(PRIO_PROCESS, 0), OwnPriority::raised_nice);
        const pid_t child = fork();
        if (child == 0)
            _exit(getpriority(PRIO_PROCESS, 0));
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(WEXITSTATUS(status), 0);
        // A minute after the last loss, and not before.
        EXPECT_EQ(priority.judge(1'000 * ms, 0, 0), Change::none);
        EXPECT_EQ(priority.judge(2'000 * ms, 0, 1), Change::none);
        EXPECT_EQ(priority.judge(61'999 * ms, 0, 1), Change::none);
        EXPECT_EQ(priority.judge(62'300 * ms, 0, 1), Change::lower);
        priority.lower();
        EXPECT_EQ(getpriority(PRIO_PROCESS, 0), usual);
        EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    }).join();
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), usual);
}

} // namespace
} // namespace auger
