// SPDX-License-Identifier: GPL-3.0-or-later
// What is found out by trying is what Linux's own history says of the kernel that runs: the
// versions at which the main line got a feature are the other source. (A distribution may have it
// earlier; then this test names the version to be put in here.)
#include "loader/kernel/features.h"
#include "tests/kernel/running_kernel.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <cstring>

namespace auger::test {
namespace {

TEST_F(KernelTest, FeaturesFoundByTryingAreThoseOfTheKernel) {
    Features features = Features::detect();
    const KernelRelease kernel = running_kernel();
    EXPECT_TRUE(features.privileged);
    EXPECT_TRUE(features.btf);
    EXPECT_TRUE(features.uprobes) << features.uprobes_fault;
    EXPECT_EQ(features.uprobe_multi, (kernel >= KernelRelease{6, 6}))
        << features.uprobe_multi_fault;
    EXPECT_EQ(features.uprobe_session, (kernel >= KernelRelease{6, 13}));
    EXPECT_EQ(features.stacks_under_return, (kernel >= KernelRelease{6, 11}));
    EXPECT_TRUE(features.context_switches);
    EXPECT_TRUE(features.task_iterators);
    // Some machines have a rule of their own against them, by which no program is even verified.
    EXPECT_THAT(features.map_iterators_fault, testing::AnyOf("", strerror(EPERM)));
    EXPECT_EQ(features.socket_tracepoints, (kernel >= KernelRelease{6, 3}))
        << features.socket_tracepoints_fault;
    EXPECT_EQ(features.uprobe_multi_fault.empty(), features.uprobe_multi);
    EXPECT_EQ(features.uprobes_fault.empty(), features.uprobes);
}

} // namespace
} // namespace auger::test
