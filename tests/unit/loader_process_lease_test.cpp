// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits for a lease, as /proc/locks tells.
#include "loader/process/broken_lease.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

// As Linux 6.18 writes it.
constexpr std::string_view locks = "1: LEASE  ACTIVE    READ  41 fe:00:1181 0 EOF\n"
                                   "2: FLOCK  ADVISORY  WRITE 43 00:18:5 0 EOF\n"
                                   "3: LEASE  BREAKING  UNLCK 42 fe:00:1180 0 EOF\n"
                                   "4: LEASE  BREAKER   READ  43 fe:00:1180 0 EOF\n";

TEST(BrokenLease, IsItsHoldersWhileSomebodyWaits) {
    EXPECT_TRUE(lease_is_waited_for(locks, 42));
    EXPECT_FALSE(lease_is_waited_for(locks, 41)); // held
    EXPECT_FALSE(lease_is_waited_for(locks, 43)); // who waits
    EXPECT_FALSE(lease_is_waited_for(locks, 4));
    EXPECT_FALSE(lease_is_waited_for("", 42));
    EXPECT_FALSE(lease_is_waited_for("3: LEASE  BREAKING", 42));
    EXPECT_TRUE(lease_is_waited_for("3: LEASE  BREAKING  READ  42", 42));
}

} // namespace
} // namespace auger
