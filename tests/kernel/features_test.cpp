// SPDX-License-Identifier: GPL-3.0-or-later
// What is found out by trying is what Linux's own history says of the kernel that runs: the
// versions at which the main line got a feature are the other source. (A distribution may have it
// earlier; then this test names the version to be put in here.)
#include "loader/kernel/features.h"
#include "tests/kernel/session.h"

#include <sys/utsname.h>

#include <cstdio>

namespace auger::test {
namespace {

// Linux 6.11 is 611, 6.1 is 601.
int running_kernel() {
    utsname name = {};
    int major = 0, minor = 0;
    EXPECT_EQ(uname(&name), 0);
    EXPECT_EQ(std::sscanf(name.release, "%d.%d", &major, &minor), 2);
    return 100 * major + minor;
}

TEST_F(KernelTest, FeaturesFoundByTryingAreThoseOfTheKernel) {
    Features features = Features::detect();
    int kernel = running_kernel();
    EXPECT_TRUE(features.privileged);
    EXPECT_TRUE(features.btf);
    EXPECT_TRUE(features.uprobes) << features.uprobes_fault;
    EXPECT_EQ(features.uprobe_multi, kernel >= 606) << features.uprobe_multi_fault;
    EXPECT_EQ(features.uprobe_session, kernel >= 613);
    EXPECT_EQ(features.stacks_under_return, kernel >= 611);
    EXPECT_EQ(features.uprobe_multi_fault.empty(), features.uprobe_multi);
    EXPECT_EQ(features.uprobes_fault.empty(), features.uprobes);
}

} // namespace
} // namespace auger::test
