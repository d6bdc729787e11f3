// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/short_name.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

TEST(ShortName, DropsArgumentsOfFunctionsAndTemplates) {
    EXPECT_EQ(short_name("handle(Worker&, int)"), "handle");
    EXPECT_EQ(short_name("std::sort<std::vector<int>, L>(It, It)"), "std::sort<>");
    EXPECT_EQ(short_name("a<b<c>>::d<e>::f() const"), "a<>::d<>::f const");
    EXPECT_EQ(short_name("plain"), "plain");
}

TEST(ShortName, KeepsWhatIsPartOfTheName) {
    EXPECT_EQ(short_name("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
    EXPECT_EQ(short_name("std::less<int>::operator()(int, int)"), "std::less<>::operator()");
    EXPECT_EQ(short_name("operator<< <char>(S&)"), "operator<< <>");
    EXPECT_EQ(short_name("x::operator->()"), "x::operator->");
    EXPECT_EQ(short_name("f()::{lambda(int)#1}::g"), "f::{lambda#1}::g");
}

TEST(ShortName, LeavesNamesWhoseBracketsDoNotMatch) {
    EXPECT_EQ(short_name("a<b"), "a<b");
    EXPECT_EQ(short_name("a>b"), "a>b");
    EXPECT_EQ(short_name(")("), ")(");
    EXPECT_EQ(short_name("(f)"), "(f)"); // nothing would be left
    EXPECT_EQ(display_name("a\x1b[m(int)"), "a\\x1b[m");
}

} // namespace
} // namespace auger
