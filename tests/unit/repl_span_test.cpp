// SPDX-License-Identifier: GPL-3.0-or-later
// The grammar of `span`: what it is from and to, and where mistakes are.
#include "repl/language/span_arguments.h"
#include "tests/unit/command_lines.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::HasSubstr;

// Within quotes as well as behind them.
TEST(SpanCommand, ReturnsAreSaidOfQuotedNames) {
    const SpanDefinition within = span_of("from 'f [clone .actor]' to 'f [clone .actor]%return'"),
                         behind = span_of("from 'f [clone .actor]' to 'f [clone .actor]'%return");
    ASSERT_EQ(within.points.size(), 2u);
    EXPECT_EQ(within.points[1].probe, "f [clone .actor]");
    EXPECT_TRUE(within.points[1].at_return);
    EXPECT_EQ(within, behind);
    EXPECT_EQ(within, span_of(within.text));
}

TEST(SpanCommand, PointsWithKeysAndPredicates) {
    const SpanDefinition whole =
        span_of("from f key ret queued to ns::g%return if arg1 > 0 and arg2 == 1 key arg0 "
                "resume 'h(int)' key p->id park idle limit 2m");
    ASSERT_EQ(whole.points.size(), 4u);
    const SpanPoint& from = whole.points[0];
    EXPECT_EQ(from.role, SpanPoint::Role::from);
    EXPECT_EQ(from.key, "ret");
    EXPECT_TRUE(from.at_return); // where the result is known
    EXPECT_TRUE(from.queued);
    const SpanPoint& to = whole.points[1];
    EXPECT_EQ(to.probe, "ns::g");
    EXPECT_TRUE(to.at_return);
    EXPECT_EQ(to.only_if, "arg1 > 0 and arg2 == 1");
    EXPECT_EQ(whole.points[2].probe, "h(int)");
    EXPECT_EQ(whole.points[2].key, "p->id");
    EXPECT_FALSE(whole.points[2].at_return);
    EXPECT_EQ(whole.points[3].role, SpanPoint::Role::park);
    EXPECT_EQ(whole.limit_ns, 120'000'000'000u);
    // Its text reads back.
    EXPECT_EQ(span_of(whole.text), whole);
    EXPECT_EQ(span_of("from f key thread keep to g").points[0],
              (SpanPoint{.probe = "f", .keep = true}));
    EXPECT_FALSE(span_of("from f key p->ret to g").points[0].at_return);
    EXPECT_TRUE(span_of("from f if arg0>ret to g").points[0].at_return);
    EXPECT_FALSE(span_of(R"(from f if str(arg0) == "ret" to g)").points[0].at_return);
    EXPECT_FALSE(span_of(R"(from f if str(arg0) == "a\" ret" to g)").points[0].at_return);
    EXPECT_TRUE(span_of(R"(from f if str(arg0) == "a" and ret to g)").points[0].at_return);
    EXPECT_EQ(span_of("from f to g").limit_ns, 600'000'000'000u);
}

TEST(SpanCommand, Exchanges) {
    const SpanDefinition all = span_of("exchanges");
    ASSERT_TRUE(all.exchanges);
    EXPECT_FALSE(all.empty());
    EXPECT_EQ(*all.exchanges, ExchangeDefinition{});
    EXPECT_EQ(all.text, "exchanges");
    const SpanDefinition some = span_of("exchanges limit 1m quiet 2s port 8080");
    ASSERT_TRUE(some.exchanges);
    EXPECT_EQ(some.exchanges->port, 8080);
    EXPECT_EQ(some.exchanges->quiet_ns, 2'000'000'000u);
    EXPECT_EQ(some.limit_ns, 60'000'000'000u);
    EXPECT_EQ(some.text, "exchanges port 8080 quiet 2s limit 60s");
    EXPECT_EQ(span_of(some.text), some);
    const SpanDefinition unix_socket = span_of("exchanges unix /run/php/php8.2-fpm.sock");
    ASSERT_TRUE(unix_socket.exchanges);
    EXPECT_EQ(unix_socket.exchanges->unix_path, "/run/php/php8.2-fpm.sock");
    EXPECT_EQ(unix_socket.exchanges->port, 0);
    EXPECT_EQ(span_of(unix_socket.text).exchanges, unix_socket.exchanges);
    EXPECT_EQ(span_of("exchanges unix '@a b'").text, "exchanges unix \"@a b\"");
    // A function of that name is a point as any.
    EXPECT_FALSE(span_of("from exchanges to port").exchanges);
}

TEST(SpanCommand, MistakesInExchangesHaveTheirPlace) {
    EXPECT_THAT(wrong("span x exchanges port"), HasSubstr("18: a number is missing"));
    EXPECT_THAT(wrong("span x exchanges port 0"), HasSubstr("23: \"0\" is no port"));
    EXPECT_THAT(wrong("span x exchanges port 65536"), HasSubstr("23: \"65536\" is no port"));
    EXPECT_THAT(wrong("span x exchanges port 80x"), HasSubstr("23: \"80x\" is no port"));
    EXPECT_THAT(wrong("span x exchanges port 80 port 81"), HasSubstr("26: \"port\" is too much"));
    EXPECT_THAT(wrong("span x exchanges port 80 unix /x"), HasSubstr("26: \"unix\" is too much"));
    EXPECT_THAT(wrong("span x exchanges unix"), HasSubstr("18: a path is missing"));
    EXPECT_THAT(wrong("span x exchanges unix ''"), HasSubstr("23: \"\" is no path"));
    EXPECT_THAT(wrong("span x exchanges unix @"), HasSubstr("23: \"@\" is no path"));
    EXPECT_THAT(wrong("span x exchanges unix /" + std::string(107, 'x')),
                HasSubstr("1 to 107 bytes"));
    EXPECT_THAT(wrong("span x exchanges 8080"), HasSubstr("18: \"8080\" is too much"));
    EXPECT_THAT(wrong("span x exchanges quiet"), HasSubstr("18: a duration is missing"));
    EXPECT_THAT(wrong("span x exchanges quiet 0s"), HasSubstr("24: every send would be"));
    EXPECT_THAT(wrong("span x exchanges limit 0s"), HasSubstr("24: a span that may take no time"));
    EXPECT_THAT(wrong("span x exchanges from f"), HasSubstr("18: \"from\" is too much"));
    EXPECT_THAT(wrong("span x from f exchanges"), HasSubstr("15: \"exchanges\" is too much"));
}

TEST(SpanCommand, MistakesHaveTheirPlace) {
    EXPECT_THAT(wrong("span"), HasSubstr("a name is missing"));
    EXPECT_THAT(wrong("span 5 from f to g"), HasSubstr("6: \"5\" is no name"));
    EXPECT_THAT(wrong("span libc:f from f to g"), HasSubstr("6: \"libc:f\" is no name"));
    EXPECT_THAT(wrong("span r"), HasSubstr("`from PROBE`, or `exchanges`, is missing"));
    EXPECT_THAT(wrong("span r from f"), HasSubstr("`to PROBE` is missing"));
    EXPECT_THAT(wrong("span r to g"), HasSubstr("`from PROBE` is missing"));
    EXPECT_THAT(wrong("span r from to g"), HasSubstr("8: a probe is missing"));
    EXPECT_THAT(wrong("span r f to g"), HasSubstr("8: \"f\" is too much here"));
    EXPECT_THAT(wrong("span r key arg0 from f to g"), HasSubstr("8: \"key\" belongs to a point"));
    EXPECT_THAT(wrong("span r from f key to g"), HasSubstr("15: something is missing"));
    EXPECT_THAT(wrong("span r from f key arg0 + to g"), HasSubstr(": "));
    EXPECT_THAT(wrong("span r from f key arg0 key arg1 to g"), HasSubstr("24: there is another"));
    EXPECT_THAT(wrong("span r from f to g keep"), HasSubstr("20: \"keep\" is said of a beginning"));
    EXPECT_THAT(wrong("span r from f to g limit"), HasSubstr("20: a duration is missing"));
    EXPECT_THAT(wrong("span r from f to g limit 5"), HasSubstr("26: \"5\" has no unit"));
    EXPECT_THAT(wrong("span r from f to g limit 0s"),
                HasSubstr("26: a span that may take no time"));
    EXPECT_THAT(wrong("span r from f queued to g"), HasSubstr("`resume PROBE`"));
    EXPECT_THAT(wrong("span r from f key arg0 to g resume h"),
                HasSubstr("36: which span is resumed here is not known"));
}

} // namespace
} // namespace auger
