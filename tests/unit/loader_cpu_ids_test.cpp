// SPDX-License-Identifier: GPL-3.0-or-later
// How many elements what is found by a CPU's number has to have.
#include "loader/kernel/cpu_ids.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

TEST(CpuIds, AreCountedUpToTheLargest) {
    EXPECT_EQ(count_cpu_ids("0"), 1u);
    EXPECT_EQ(count_cpu_ids("0-1"), 2u);
    EXPECT_EQ(count_cpu_ids("0-1,4"), 5u); // of three CPUs
    EXPECT_EQ(count_cpu_ids("0-3,8-11"), 12u);
    EXPECT_EQ(count_cpu_ids("0,2,4,6"), 7u);
    EXPECT_EQ(count_cpu_ids("16"), 17u);
    EXPECT_EQ(count_cpu_ids("0-8191"), 8192u);
}

TEST(CpuIds, AreNotMadeOfWhatIsNoList) {
    for (const char* text : {"", "-", ",", "0-", "0-1,", "all", "0-x", "0-1 ", "0-1,4x",
                             "0-4294967295", "0-4294967296", "99999999999999999999"})
        EXPECT_EQ(count_cpu_ids(text), std::nullopt) << text;
}

} // namespace
} // namespace auger
