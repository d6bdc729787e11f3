// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/escape.h"
#include "views/short_name.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

TEST(ShortName, OfPythonKeepsWhatStandsInAngleBrackets) {
    for (const char* name :
         {"<module>", "Service.run.<locals>.<lambda>", "find.<locals>.<genexpr>"})
        EXPECT_EQ(short_name(name), name);
    EXPECT_EQ(short_name("lookup<module>"), "lookup<>");
}

TEST(ShortName, OfRubyKeepsWhatStandsInBrackets) {
    for (const char* name :
         {"<main>", "<top (required)>", "<class:Orders>", "<module:Shop>", "<singleton class>",
          "block in <main>", "block (2 levels) in Orders#total",
          "rescue in block (12 levels) in <class:A>", "Integer#<=>", "block in Shop::Order#<=>",
          "Array#<<", "Module#<", "Integer#>>"})
        EXPECT_EQ(short_name(name), name);
    EXPECT_EQ(short_name("<main as T>::f"), "<main as T>::f");
    EXPECT_EQ(short_name("<class::X as T>"), "<>");
    EXPECT_EQ(short_name("block (levels) in f"), "block  in f");
    EXPECT_EQ(short_name("block (2 levels)"), "block ");
    EXPECT_EQ(short_name("f<main>"), "f<>");
}

TEST(ShortName, DropsArgumentsOfFunctionsAndTemplates) {
    EXPECT_EQ(short_name("handle(Worker&, int)"), "handle");
    EXPECT_EQ(short_name("std::sort<std::vector<int>, L>(It, It)"), "std::sort<>");
    EXPECT_EQ(short_name("a<b<c>>::d<e>::f() const"), "a<>::d<>::f const");
    EXPECT_EQ(short_name("plain"), "plain");
}

TEST(ShortName, KeepsWhatIsPartOfTheName) {
    EXPECT_EQ(short_name("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
    EXPECT_EQ(short_name("<a::Box<F,A> as b::FnOnce<Args>>::call_once"),
              "<a::Box<> as b::FnOnce<>>::call_once");
    EXPECT_EQ(short_name("<&mut F as core::future::Future>::poll::{{closure}}"),
              "<&mut F as core::future::Future>::poll::{{closure}}");
    EXPECT_EQ(short_name("<<T as A<X>>::B as C>::f<Y>"), "<<>::B as C>::f<>");
    EXPECT_EQ(short_name("<fn() -> T as A>::f"), "<fn() -> T as A>::f"); // as it is
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

TEST(FitName, TakesAwayWhatTellsLeastFirst) {
    const std::string name = "v8::internal::Isolate::RunMicrotasks [clone .isra.0]";
    EXPECT_EQ(fit_name(name, 60), name);
    EXPECT_EQ(fit_name(name, 40), "v8::internal::Isolate::RunMicrotasks");
    EXPECT_EQ(fit_name(name, 35), "...internal::Isolate::RunMicrotasks");
    EXPECT_EQ(fit_name(name, 34, "…"), "…internal::Isolate::RunMicrotasks");
    EXPECT_EQ(fit_name(name, 26), "...Isolate::RunMicrotasks");
    EXPECT_EQ(fit_name(name, 16), "...RunMicrotasks");
    EXPECT_EQ(fit_name(name, 13), "RunMicrotasks");
    EXPECT_EQ(fit_name(name, 9), "Run...sks");
    EXPECT_EQ(fit_name("net/http.(*conn).serve", 15), elide_middle("net/http.(*conn).serve", 15));
    EXPECT_EQ(fit_name("a::", 2), elide_middle("a::", 2));
    EXPECT_EQ(fit_name("f", 0), "");
}

} // namespace
} // namespace auger
