// SPDX-License-Identifier: GPL-3.0-or-later
// What users write for probes, and what it fits.
#include "loader/probes/function_names.h"
#include "loader/probes/module_name.h"
#include "loader/probes/probe_pattern.h"
#include "loader/reader/elf/function_index.h"
#include "loader/reader/matching/name_matcher.h"
#include "loader/reader/names/demangle.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

ProbePattern parsed(std::string_view text) {
    ParsedProbe probe = parse_probe(text);
    EXPECT_TRUE(probe.pattern) << text << ": " << (probe.error ? probe.error->error.cause : "");
    return probe.pattern ? *probe.pattern : ProbePattern{};
}

// Position of the error, or -1.
long error_at(std::string_view text) {
    ParsedProbe probe = parse_probe(text);
    return probe.error ? static_cast<long>(probe.error->position) : -1;
}

bool fits(std::string_view pattern, std::string_view mangled) {
    return NameMatcher(parsed(pattern)).matches(mangled);
}

TEST(ProbePattern, NamesInLanguages) {
    EXPECT_EQ(parsed("py:socket.socket.recv").language, "py");
    EXPECT_EQ(parsed("py:socket.socket.recv").function, "socket.socket.recv");
    EXPECT_EQ(parsed("php:Shop\\Till::pay").language, "php");
    EXPECT_EQ(parsed("php:Shop\\Till::pay").function, "Shop\\Till::pay");
    EXPECT_EQ(parsed("py:len").library, "");
    EXPECT_EQ(error_at(" py:zlib.*"), 9);
    EXPECT_EQ(error_at("py:zlib::f"), 7);
    EXPECT_EQ(error_at("py:f@main.c:3"), 4);
    EXPECT_EQ(error_at("php:"), 4);
    // What begins with the same letters is something else.
    EXPECT_EQ(parsed("py::handle::inc_ref").language, "");
    EXPECT_EQ(parsed("py::handle::inc_ref").function, "py::handle::inc_ref");
    EXPECT_EQ(parsed("pylib:f").library, "pylib");
    EXPECT_EQ(parsed("py").function, "py");
}

TEST(ProbePattern, LibraryOrNamespace) {
    EXPECT_EQ(parsed("recv").library, "");
    EXPECT_EQ(parsed("libc:recv").library, "libc");
    EXPECT_EQ(parsed("libc:recv").function, "recv");
    EXPECT_EQ(parsed("ns::f").library, "");
    EXPECT_EQ(parsed("ns::f").function, "ns::f");
    EXPECT_EQ(parsed("libx:ns::f").library, "libx");
    EXPECT_EQ(parsed("libx:ns::f").function, "ns::f");
    EXPECT_EQ(parsed("libx:::f").function, "f");
    EXPECT_EQ(parsed("/opt/a b/x:f").library, "/opt/a b/x");
    EXPECT_TRUE(parsed("/opt/a b/x:f").library_is_path);
    EXPECT_FALSE(parsed("libssl*:SSL_read").function_is_glob);
}

TEST(ProbePattern, OffsetsAndAddresses) {
    EXPECT_EQ(parsed("f+0x10").offset, 16u);
    EXPECT_EQ(parsed("f+12").offset, 12u);
    EXPECT_EQ(parsed("f+12").function, "f");
    EXPECT_EQ(parsed("0x401000").address, 0x401000u);
    EXPECT_EQ(parsed("libc:0x10").address, 0x10u);
    EXPECT_EQ(parsed("A::operator+").function, "A::operator+");
    EXPECT_EQ(parsed("A::operator++0x10").offset, 16u);
}

TEST(ProbePattern, GlobsAreNotPointersOrOperators) {
    EXPECT_TRUE(parsed("*parse*").function_is_glob);
    EXPECT_TRUE(parsed("f[ab]").function_is_glob);
    EXPECT_FALSE(parsed("f(char*)").function_is_glob);
    EXPECT_FALSE(parsed("A::operator*").function_is_glob);
    EXPECT_FALSE(parsed("A::operator[]").function_is_glob);
    EXPECT_TRUE(parsed("f(char*)").with_arguments);
    EXPECT_FALSE(parsed("A::operator()").with_arguments);
    EXPECT_FALSE(parsed("(anonymous namespace)::f").with_arguments);
}

TEST(ProbePattern, ErrorsHavePositions) {
    EXPECT_EQ(error_at(""), 0);
    EXPECT_EQ(error_at("  "), 0);
    EXPECT_EQ(error_at(":f"), 0);
    EXPECT_EQ(error_at("libc:"), 4);
    EXPECT_EQ(error_at("f+"), 2);
    EXPECT_EQ(error_at("f+zz"), 2);
    EXPECT_EQ(error_at("libc:f+0x"), 7);
    EXPECT_EQ(error_at("f(int"), 1);
    EXPECT_EQ(error_at("f)"), 1);
    EXPECT_EQ(error_at("f[a"), 1);
    EXPECT_EQ(error_at("recv@"), 5);
    EXPECT_EQ(error_at("@main.cc:12"), 0);
    EXPECT_EQ(error_at(" recv@main.cc"), 13);
    EXPECT_EQ(error_at("recv@main.cc:"), 13);
    EXPECT_EQ(error_at("recv@main.cc:x1"), 13);
    EXPECT_EQ(error_at("recv@:12"), 5);
    EXPECT_EQ(error_at("recv@main.cc:0"), 13);
    EXPECT_EQ(error_at("recv@main.cc:5000000000"), 13);
    EXPECT_EQ(error_at("recv@src/:12"), 9);
    EXPECT_EQ(error_at("recv+4@main.cc:12"), 6);
    EXPECT_EQ(error_at("re(v@main.cc:12"), 2);
    EXPECT_EQ(error_at("libc:@main.cc:12"), 4);
    EXPECT_EQ(error_at("main.cc:0"), 8);
    EXPECT_EQ(error_at("a\x01z"), 1);
    EXPECT_EQ(error_at(std::string(5000, 'a')), 4096);
    EXPECT_EQ(error_at("f"), -1);
}

TEST(ProbePattern, Glob) {
    EXPECT_TRUE(glob_match("*", ""));
    EXPECT_TRUE(glob_match("a*c", "abbc"));
    EXPECT_FALSE(glob_match("a*c", "abb"));
    EXPECT_TRUE(glob_match("?[a-c][!x]", "zby"));
    EXPECT_FALSE(glob_match("?[a-c][!x]", "zbx"));
    EXPECT_TRUE(glob_match("f\\*", "f*"));
    EXPECT_FALSE(glob_match("f\\*", "fa"));
    // Exponential in a naive matcher.
    EXPECT_FALSE(glob_match("*a*a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST(ProbeNames, Boundaries) {
    const char* method = "_ZN2ns5Class6methodEi"; // ns::Class::method(int)
    EXPECT_TRUE(fits("ns::Class::method", method));
    EXPECT_TRUE(fits("Class::method", method));
    EXPECT_TRUE(fits("method", method));
    EXPECT_TRUE(fits("::ns::Class::method", method));
    EXPECT_FALSE(fits("ass::method", method));
    EXPECT_FALSE(fits("meth", method));
    EXPECT_TRUE(fits("_ZN2ns5Class6methodEi", method));
    EXPECT_TRUE(fits("Class::*", method));
    EXPECT_TRUE(fits("meth*", method));
    EXPECT_FALSE(fits("eth*", method));
}

TEST(ProbePattern, CallSitesAndLines) {
    const auto parsed = [](std::string_view text) {
        ParsedProbe probe = parse_probe(text);
        EXPECT_TRUE(probe.pattern) << text;
        return probe.pattern.value_or(ProbePattern{});
    };
    ProbePattern site = parsed("recv@main.cc:1312");
    EXPECT_TRUE(site.call_site);
    EXPECT_EQ(site.function, "recv");
    EXPECT_EQ(site.library, "");
    EXPECT_EQ(site.file, "main.cc");
    EXPECT_EQ(site.line, 1312u);
    EXPECT_EQ(site.text, "recv@main.cc:1312");

    site = parsed(" libc:recv@/src/@new/main.cc:7 ");
    EXPECT_EQ(site.library, "libc");
    EXPECT_EQ(site.function, "recv");
    EXPECT_EQ(site.file, "/src/@new/main.cc");
    EXPECT_EQ(site.line, 7u);

    site = parsed("/opt/a@b/libx.so:ns::f(int)@x.cc:3");
    EXPECT_EQ(site.library, "/opt/a@b/libx.so");
    EXPECT_EQ(site.function, "ns::f(int)");
    EXPECT_EQ(site.file, "x.cc");
    EXPECT_FALSE(parsed("/opt/a@b/libx.so:recv").call_site);

    site = parsed("recv@*");
    EXPECT_TRUE(site.call_site);
    EXPECT_EQ(site.line, 0u);

    ProbePattern line = parsed("src/@new/main.cc:1290");
    EXPECT_FALSE(line.call_site);
    EXPECT_EQ(line.function, "");
    EXPECT_EQ(line.file, "src/@new/main.cc");
    EXPECT_EQ(line.line, 1290u);
    EXPECT_EQ(parsed("libc:0x1234").line, 0u);
}

TEST(ProbeNames, Arguments) {
    const char* f =
        "_ZNK1A1fEPKciSt6vectorIiSaIiEE"; // A::f(char const*, int, std::vector<...>) const
    EXPECT_TRUE(fits("A::f", f));
    EXPECT_TRUE(fits("A::f( const char *,int, std::vector<int, std::allocator<int> >)", f));
    EXPECT_TRUE(fits("f(char const*, int, std::vector<int, std::allocator<int>>) const", f));
    EXPECT_FALSE(fits("A::f(char const*, int)", f));
    EXPECT_FALSE(fits("f(char*)", "_Z1fPKc"));
    EXPECT_TRUE(fits("f(char*)", "_Z1fPc"));
}

TEST(ProbeNames, TemplatesOperatorsLambdasRust) {
    const char* largest = "_ZN4shop7largestIiEET_RKSt6vectorIS1_SaIS1_EE"; // int shop::largest<int>
    EXPECT_TRUE(fits("largest", largest));
    EXPECT_TRUE(fits("shop::largest<int>", largest));
    EXPECT_FALSE(fits("shop::largest<char>", largest));
    EXPECT_TRUE(fits("operator<", "_ZNK1AltERKS_"));
    EXPECT_FALSE(fits("operator<", "_ZNK1AleERKS_")); // <=
    EXPECT_TRUE(fits("A::operator()", "_ZNK1AclEi"));
    EXPECT_TRUE(fits("operator<<", "_ZlsI1AERSoS1_RKT_")); // operator<< <A>
    EXPECT_TRUE(fits("vector::push_back", "_ZNSt6vectorIiSaIiEE9push_backEOi"));
    EXPECT_TRUE(fits("std::string::append", "_ZNSs6appendEPKc") ||
                fits("basic_string::append", "_ZNSs6appendEPKc"));
    EXPECT_TRUE(fits("write_fmt", "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"));
    EXPECT_FALSE(fits("f", "_ZThn16_N1A1fEv")); // a thunk would count twice
    EXPECT_TRUE(fits("(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEv"));
    EXPECT_TRUE(fits("f", "_ZN12_GLOBAL__N_11fEv"));
}

TEST(ProbePattern, PartsOfCoroutines) {
    const auto part = [](std::string_view text) {
        const ParsedProbe probe = parse_probe(text);
        return probe.pattern ? probe.pattern->function + "|" + probe.pattern->coroutine_part : "";
    };
    EXPECT_EQ(part("f [clone .actor]"), "f|actor");
    EXPECT_EQ(part("f(int) [clone .destroy] [clone .cold]"), "f(int)|destroy");
    EXPECT_EQ(part("f [clone .resume]"), "f|resume");
    EXPECT_EQ(part("f [clone .actors]"), "f|");
    EXPECT_EQ(part("f [clone .isra.0]"), "f|");
    const auto matches = [](std::string_view text, std::string_view mangled) {
        return NameMatcher(*parse_probe(text).pattern).matches(mangled);
    };
    const std::string_view actor = "_Z6handlePZ6handleiE16_Z6handlei.Frame.actor"; // GCC's
    EXPECT_TRUE(matches("handle [clone .actor]", actor));
    EXPECT_FALSE(matches("handle [clone .destroy]", actor));
    EXPECT_TRUE(matches("handle", actor));
    EXPECT_FALSE(matches("handle [clone .actor]", "_Z6handlei"));
    EXPECT_TRUE(matches("handle [clone .resume]", "_Z6handlei.resume")); // Clang's
    EXPECT_FALSE(matches("handle [clone .resume]", "_Z6handlei.destroy"));
    EXPECT_TRUE(matches("handle(handle(int)::_Z6handlei.Frame*) [clone .actor]", actor));
}

// As views show it.
TEST(ProbeNames, RustsTypesAndTraits) {
    const auto matches = [](std::string_view text) {
        return NameMatcher(*parse_probe(text).pattern)
            .matches("_ZN102_$LT$tokio..runtime..blocking..task..BlockingTask$LT$T$GT$$u20$as$u20$"
                     "core..future..future..Future$GT$4poll17h32803f051bdb5149E");
    };
    EXPECT_TRUE(matches("<tokio::runtime::blocking::task::BlockingTask<> as "
                        "core::future::future::Future>::poll"));
    EXPECT_TRUE(matches("<tokio::runtime::blocking::task::BlockingTask<T> as "
                        "core::future::future::Future>::poll"));
    EXPECT_FALSE(matches("<tokio::runtime::blocking::task::OtherTask<> as "
                         "core::future::future::Future>::poll"));
}

TEST(ProbeNames, Clones) {
    EXPECT_EQ(split_clone_name("_Z1fv.constprop.0.isra.1").base, "_Z1fv");
    EXPECT_EQ(split_clone_name("_Z1fv.constprop.0").kind, CloneKind::entry);
    EXPECT_EQ(split_clone_name("f.part.2.cold").kind, CloneKind::cold);
    EXPECT_EQ(split_clone_name("f.cold.7").base, "f");
    EXPECT_EQ(split_clone_name("go.func.12").base, "go.func.12");
    EXPECT_EQ(split_clone_name(".cold").kind, CloneKind::none);
}

TEST(ProbeNames, Modules) {
    EXPECT_EQ(module_stem("libssl.so.3"), "libssl");
    EXPECT_EQ(module_stem("libc-2.31.so"), "libc");
    EXPECT_EQ(module_stem("libgtk-3.so.0"), "libgtk");
    EXPECT_EQ(module_stem("nginx"), "nginx");
    EXPECT_EQ(module_stem("a.sober"), "a.sober");
    EXPECT_EQ(module_base_name("/usr/bin/x (deleted)"), "x");
}

// Found by fuzzing: some hundred million lifetimes are bound where nothing is printed.
TEST(ProbeNames, DemanglingDoesNotCountLifetimesForHours) {
    const std::string endless = "_RNvMs_NRNvMs_NtCs1234_7mycratt32ooN_RNvMs_NtCs1234_7mycrate4FFFFF"
                                "FFGFFtB4_3BtCs1F_Ao234_7mytzcrate3fooNtB4_3Bb";
    EXPECT_EQ(demangle(endless), endless);
    // A few are as honest as ever.
    EXPECT_EQ(demangle("_RINvC1c1fFG0_RL1_hRL0_hEuE"), "c::f::<for<'a, 'b> fn(&'a u8, &'b u8)>");
}

TEST(ProbeNames, DemanglingIsBounded) {
    EXPECT_EQ(demangle("_ZN3foo3barEi"), "foo::bar(int)");
    EXPECT_EQ(demangle_without_parameters("_ZN3foo3barEi"), "foo::bar");
    EXPECT_EQ(demangle("_RNvC6_123foo3bar"), "123foo::bar");
    EXPECT_EQ(demangle("plain"), "plain");
    EXPECT_EQ(demangle("_Z"), "_Z");
    EXPECT_EQ(demangle("_ZN3foo3barEi.cold"), "foo::bar(int) [clone .cold]");
    // Each substitution doubles the one before: 2^40 bytes if printed.
    std::string bomb = "_Z1fSt4pairIiiE";
    for (int i = 0; i < 40; ++i)
        bomb += "St4pairIS" +
                (i == 0 ? std::string()
                        : std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) % 36])) +
                "_S" +
                (i == 0 ? std::string()
                        : std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) % 36])) +
                "_E";
    EXPECT_LE(demangle(bomb).size(), demangle_output_limit);
    EXPECT_EQ(demangle(std::string("_Z") + std::string(100000, 'P')).size(), 100002u);
    EXPECT_EQ(demangle("_Z1f" + std::string(3000, 'P') + "i").substr(0, 4), "_Z1f");
}

} // namespace
} // namespace auger
