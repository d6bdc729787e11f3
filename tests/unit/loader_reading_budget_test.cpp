// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/reading_budget.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

using Left = ReadingBudget::Left;

TEST(ReadingBudget, IsOfSoMany) {
    ReadingBudget budget(2, 100);
    EXPECT_EQ(budget.take(1), Left::some);
    EXPECT_EQ(budget.take(1), Left::some);
    EXPECT_EQ(budget.take(1), Left::no_number);
    EXPECT_EQ(budget.take(1), Left::no_number);
}

// All of them together have it, from when the first is asked for.
TEST(ReadingBudget, IsOfATime) {
    ReadingBudget budget(10, 100);
    EXPECT_EQ(budget.take(5000), Left::some);
    EXPECT_EQ(budget.take(5060), Left::some);
    EXPECT_EQ(budget.take(5100), Left::some);
    EXPECT_EQ(budget.take(5101), Left::no_time);
    EXPECT_EQ(budget.take(6000), Left::no_time);
}

} // namespace
} // namespace auger
